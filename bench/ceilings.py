"""What the machine allows: bytes read and written per second, and multiply-adds per second.

Numba compiles these kernels, so that no C compiler is needed. A plain sum with reassociation reads
at memory bandwidth. Eight independent chains of multiply-adds for each of many elements keep the
vector units full whatever their latency.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numba
import numpy as np
from numba import njit, prange

_LANES = 1024  # float64 values of a thread's chains: they stay in the first-level cache
_CHAINS = 8
_STEPS = 16
FMAS_PER_PASS = _LANES * _CHAINS * _STEPS


class Machine(NamedTuple):
    """Rates of a number of threads: bytes read, bytes written and multiply-adds, per second."""

    threads: int
    read: float
    write: float
    fma: float


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """Run Numba's parallel code with n threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(n)
    try:
        yield
    finally:
        numba.set_num_threads(before)


@njit(fastmath={"reassoc", "nsz", "contract"}, nogil=True)
def _sum(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total


@njit(nogil=True)
def _fill(out):
    for i in range(len(out)):
        out[i] = 1.0


# The inner loops are separate functions: inside a prange body they would not be vectorised.
@njit(parallel=True)
def _read(x, parts):
    sums = np.empty(parts)
    n = len(x)
    for p in prange(parts):
        sums[p] = _sum(x[n * p // parts : n * (p + 1) // parts])
    return sums


@njit(parallel=True)
def _write(out, parts):
    n = len(out)
    for p in prange(parts):
        _fill(out[n * p // parts : n * (p + 1) // parts])


@njit(fastmath={"contract"}, nogil=True)
def _chains(x, passes):
    m, c = 0.999999, 1e-9
    for _ in range(passes):
        for j in range(len(x)):
            a0 = x[j]
            a1, a2, a3, a4 = a0 + 1.0, a0 + 2.0, a0 + 3.0, a0 + 4.0
            a5, a6, a7 = a0 + 5.0, a0 + 6.0, a0 + 7.0
            for _step in range(_STEPS):
                a0 = a0 * m + c
                a1 = a1 * m + c
                a2 = a2 * m + c
                a3 = a3 * m + c
                a4 = a4 * m + c
                a5 = a5 * m + c
                a6 = a6 * m + c
                a7 = a7 * m + c
            x[j] = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7)) - 27.0


@njit(parallel=True)
def _multiply_add(x, passes):
    for p in prange(len(x)):
        _chains(x[p], passes)


def as_flat(X: np.ndarray) -> np.ndarray:
    """The memory of a contiguous array as a 1-D float64 array, for `read`."""
    values = X.ravel(order="K")
    return values[: values.nbytes // 8 * 8 // values.itemsize].view(np.float64)


def read(values: np.ndarray) -> None:
    """Read a 1-D float64 array once, with the current number of threads."""
    _read(values, numba.get_num_threads())


def write(values: np.ndarray) -> None:
    """Write a 1-D float64 array once, with the current number of threads."""
    _write(values, numba.get_num_threads())


@functools.lru_cache
def machine(n_threads: int, megabytes: int = 256) -> Machine:
    """Best rates of this machine, over an array that is larger than its caches.

    Takes about a second. The rate of multiply-adds is at least n times that of one thread: n
    threads wait for each other, and one busy neighbour once made two threads slower than one, which
    would make every share look better than it is. Where two threads share a core's units the rate
    is too high, and shares are too low.
    """
    values = np.ones(megabytes << 17)
    lanes = np.ones((n_threads, _LANES))
    passes = 200
    alone = machine(1, megabytes).fma if n_threads > 1 else 0.0
    with threads(n_threads):
        return Machine(
            n_threads,
            values.nbytes / best(lambda: read(values)),
            values.nbytes / best(lambda: write(values)),
            max(
                n_threads * alone,
                n_threads * passes * FMAS_PER_PASS / best(lambda: _multiply_add(lanes, passes)),
            ),
        )


def seconds_of_fmas(n: int, d: int, k: int, n_threads: int) -> float:
    """Seconds of the 2 n d k multiply-adds of scoring n rows."""
    return 2.0 * n * d * k / machine(n_threads).fma


def best(call: Callable[[], object], runs: int = 15) -> float:
    """Seconds of the fastest of `runs` calls, after one call that compiles."""
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    for rates in map(machine, range(1, numba.config.NUMBA_NUM_THREADS + 1)):
        print(
            f"{rates.threads} threads: read {rates.read / 1e9:.1f} GB/s, "
            f"write {rates.write / 1e9:.1f} GB/s, {rates.fma / 1e9:.1f} G multiply-adds/s"
        )
