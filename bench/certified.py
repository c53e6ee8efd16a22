"""Whether certified labels are those of float64, for many rows of every kind, near ties included.

    python -m bench.certified --rows 1e8

Rows stream: a chunk is made, labelled twice and forgotten. Kinds and near ties are those of the
tests. Near ties are places where the label changes to float64, by bisection, moved by relative
steps of 1e-17 to 1e-3. It prints what share of rows fixed point and float32 leave to the next step.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from fastgnb._numba.decorators import serial_kernel
from fastgnb._numba.singles import as_singles
from fastgnb._numba.vectors import keep, pointer
from fastgnb._numba.words import as_words
from fastgnb.kernels.rows import OVERREAD, Rows
from fastgnb.kernels.score import certificate, certified, diagonal, fixed_point
from fastgnb.kernels.score.diagonal import DiagonalTerms, score
from fastgnb.kernels.score.float32 import certify
from fastgnb.kernels.score.int16 import certify_words
from fastgnb.kernels.score.outputs import Wanted
from tests import certified_cases as cases

SHAPES = [(8, 10), (20, 40), (3, 3)]
CHUNK = 1 << 17
_SOURCES = 4096


@serial_kernel
def _count_open(data, n, d, packed):
    """How many of n rows, a multiple of 32, fixed point and float32 each leave open."""
    model = certified.unpack(packed, d)
    memory, place = np.empty(16 * (d + 8)), np.empty(32, np.int32)
    rows, to = Rows(pointer(data), False, n, d), pointer(place)
    words, singles = 0, 0
    for at in range(0, n, 32):
        open_words, open_singles = 0, 0
        if model.fixed > 0:
            open_words = ~certify_words(rows, at, model, as_words(pointer(memory)), to)
        open_singles = ~certify(rows, at, model, as_singles(pointer(memory)), to)
        for r in range(32):
            words += open_words >> r & 1
            singles += open_singles >> r & 1
    keep(memory)
    keep(place)
    return words, singles


def chunks(model: DiagonalTerms, n: int, dtype: Any, seed: int) -> Any:
    """Chunks of rows of a model's classes, of which none, few or all are near ties."""
    rng = np.random.default_rng(seed)
    source = cases.rows(model, 3 * _SOURCES, seed)
    ties = source[2::3]
    size, d = min(CHUNK, max(32, n // 128 * 32)), source.shape[1]
    possible = np.flatnonzero(model.const > -np.inf)
    sd = np.sqrt(0.5) / model.scale
    for chunk in range(-(-n // size)):
        c = possible[rng.integers(0, len(possible), size)]
        X = rng.standard_normal((size, d)) * sd[c] + model.mean[c]
        share = (0.0, 0.01, 0.1, 1.0)[chunk % 4]
        near = ties[rng.integers(0, len(ties), int(share * size))]
        step = 10.0 ** rng.uniform(-17, -3, (len(near), 1)) * rng.standard_normal(near.shape)
        X[: len(near)] = near + step * sd[c[: len(near)]]
        yield np.asarray(X[rng.permutation(size)], dtype)


def _certificate(model: DiagonalTerms, dtype: Any) -> certificate.Certificate | None:
    is_narrow = dtype == np.float32
    return certificate.certificate(model.mean, model.scale, model.const, is_narrow=is_narrow)


def compare(model: DiagonalTerms, n: int, dtype: Any, order: Any, seed: int) -> NDArray[np.int64]:
    """Rows that were compared, that differ, and that fixed point and float32 leave open."""
    total = np.zeros(4, np.int64)
    found = _certificate(model, dtype)
    assert found is not None
    packed = certified.pack(model, Wanted(), found)
    for rows in chunks(model, n, dtype, seed):
        X = np.asarray(rows, order=order)
        with mock.patch.object(diagonal, "pays", return_value=False):
            want = score(X, model, Wanted()).codes
        with mock.patch.object(diagonal, "pays", return_value=True):
            got = score(X, model, Wanted()).codes
        flat = np.concatenate((rows.reshape(-1), np.zeros(OVERREAD, dtype)))
        total += (len(X), int((want != got).sum()), *_count_open(flat, *rows.shape, packed))
    return total


def main() -> int:
    """Compare all kinds; the exit status is 1 where a label differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7, help="rows in all, by default 1e7")
    options = parser.parse_args()
    plan = [
        (kind, shape, dtype, order)
        for kind in cases.KINDS
        for shape in SHAPES
        for dtype, order in ((np.float64, "C"), (np.float32, "F"))
    ]
    models = [cases.terms(kind, d, k, seed) for seed, (kind, (d, k), *_) in enumerate(plan)]
    have = [_certificate(model, each[2]) for model, each in zip(models, plan, strict=True)]
    n = int(options.rows / sum(found is not None for found in have)) + 1
    total, start = np.zeros(4, np.int64), time.perf_counter()
    for seed, (kind, (d, k), dtype, order) in enumerate(plan):
        model = models[seed]
        if have[seed] is None:
            print(f"{kind:12} {d:3} x {k:3} {dtype.__name__} {order}  no certificate")
            continue
        with mock.patch.object(fixed_point, "FEWEST_CLASSES", 8):
            one = compare(model, n, dtype, order, seed)
        total += one
        shares = " ".join(f"{v / one[0]:9.2e}" for v in one[2:])
        print(f"{kind:12} {d:3} x {k:3} {dtype.__name__} {order}  {one[0]:9} {one[1]:3} {shares}")
        sys.stdout.flush()
    shares = " ".join(f"{v / total[0]:9.2e}" for v in total[2:])
    print(
        f"{total[0]} rows, {total[1]} labels differ, open after fixed point and float32: {shares}"
    )
    print(f"{time.perf_counter() - start:.0f} s")
    return int(total[1] > 0)


if __name__ == "__main__":
    sys.exit(main())
