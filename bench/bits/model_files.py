"""Cases of model files: those of every schema that the tests keep, and new ones of every member."""

# ruff: noqa: B023  (what loops define is called before the loop goes on)
from __future__ import annotations

import hashlib
import json
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fastgnb import ClassStats, GaussianNB, MixedNB, load, save

from . import models
from .categories import mixed_tables
from .digest import Record
from .models import fit, look, make, score
from .rows import Shape, rows

TESTS = Path(__file__).resolve().parents[2] / "tests"


def old_files(record: Record) -> None:
    """Model files in tests/data: loaded, scored, and saved again."""
    for path in sorted(TESTS.rglob("*.fgnb")):
        name = f"old/{path.name}"
        model = look(record, name, make(record, name, lambda: load(path)))
        if model is None:
            continue
        record(f"{name}/params", lambda: repr(sorted(model.get_params().items())))
        X = _rows_for(model)
        score(record, name, model, X)
        record(f"{name}/sample", lambda: model.sample(20, 0))
        with folder():
            record(f"{name}/again", lambda: _saved(model))
            again = make(record, f"{name}/again", lambda: load("m.fgnb"))
            score(record, f"{name}/again", again, X)


def _rows_for(model: Any) -> Any:
    """Fixed rows of a model's features and categories."""
    d = int(model.n_features_in_)
    X: Any = np.random.default_rng(5).normal(size=(37, d)) * 3
    if not hasattr(model, "categories_"):
        return X
    X = X.astype(object)
    for q, j in enumerate(np.flatnonzero(model.is_categorical_)):
        values = np.asarray(model.categories_[q]).tolist()
        X[:, j] = [values[i % len(values)] if values else None for i in range(len(X))]
    return X


def new_files(record: Record) -> None:
    """Models of every member, of categories, and with edited attributes, saved and loaded."""
    data = rows(Shape(300, 6, 3))
    for text, cls, params in models.NAIVE + models.FULL + models.AXES + models.MIXED:
        model = cls(**params).fit(data.X, data.y, data.weight)
        _round_trip(record, f"saved/{text}", model, data.more)
    for kind, (X, spec) in mixed_tables(257, 3).items():
        mixed = MixedNB(categorical_features=spec, missing="skip")
        mixed = fit(record, f"saved/{kind}", mixed, X, np.arange(257) % 3)
        if mixed is not None:
            _round_trip(record, f"saved/{kind}", mixed, X)
    for text, cls, params in models.FEW:
        for attribute in ("theta_", "var_", "class_prior_", "means_", "covariance_", "scale_"):
            model = cls(**params).fit(data.X, data.y)
            if hasattr(model, attribute):
                values = np.array(getattr(model, attribute))
                setattr(model, attribute, values)
                _round_trip(record, f"saved/{text}/{attribute} same", model, data.more)
                setattr(model, attribute, values * 0.5)
                _round_trip(record, f"saved/{text}/{attribute}", model, data.more)
    stats = ClassStats.from_rows(data.X, data.y) - ClassStats.from_rows(data.X[:40], data.y[:40])
    _round_trip(record, "saved/lessened", GaussianNB().fit_stats(stats), data.more)


def _round_trip(record: Record, name: str, model: Any, X: Any) -> None:
    with folder():
        record(f"{name}/saved", lambda: _saved(model))
        again = make(record, f"{name}/loaded", lambda: load("m.fgnb"))
        look(record, f"{name}/loaded", again)
        score(record, f"{name}/loaded", again, X)


def _saved(model: Any) -> dict[str, Any]:
    save(model, "m.fgnb")
    return content(Path("m.fgnb"))


def content(path: Path) -> dict[str, Any]:
    """Tensors and description of a model file, without the versions that wrote it."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    texts = header.pop("__metadata__")
    document = json.loads(texts["fastgnb"])
    document.pop("versions")
    out = {"document": json.dumps(document, sort_keys=True), "learned": texts.get("learned")}
    for name, tensor in header.items():
        start, stop = tensor["data_offsets"]
        values = data[8 + length + start : 8 + length + stop]
        out[name] = [tensor["dtype"], tensor["shape"], hashlib.sha256(values).hexdigest()]
    return out


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder, which is the current one meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        before = Path.cwd()
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


GROUPS = (old_files, new_files)
