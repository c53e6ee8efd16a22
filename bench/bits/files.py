"""Cases of files: model files, old ones too, and what the commands read and write."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import fastgnb
from fastgnb import load, save
from fastgnb.cli import main

from . import models
from .arrays import mixed_tables
from .digest import Record
from .models import fit, look, make, score
from .rows import Shape, rows

ROOT = Path(__file__).resolve().parents[2]


def old_files(record: Record) -> None:
    """Model files of every schema that the tests keep."""
    for path in sorted((ROOT / "tests").rglob("*.fgnb")):
        name = f"old/{path.name}"
        model = look(record, name, make(record, name, lambda p=path: load(p)))
        if model is None:
            continue
        record(f"{name}/params", lambda m=model: repr(sorted(m.get_params().items())))
        X = _rows_for(model)
        score(record, name, model, X)
        record(f"{name}/sample", lambda m=model: m.sample(20, 0))
        with _folder():
            record(f"{name}/again", lambda m=model: _saved(m))
            score(record, f"{name}/again", make(record, f"{name}/again", lambda: load("m.fgnb")), X)


def _rows_for(model: Any) -> Any:
    """Fixed rows that a model can score, also of categories."""
    draw = np.random.default_rng(5)
    d = int(model.n_features_in_)
    X: Any = draw.normal(size=(37, d)) * 3
    if not hasattr(model, "categories_"):
        return X
    X = X.astype(object)
    for q, j in enumerate(np.flatnonzero(model.is_categorical_)):
        labels = np.asarray(model.categories_[q]).tolist()
        X[:, j] = [labels[i % len(labels)] if labels else None for i in range(len(X))]
    return X


def model_files(record: Record) -> None:
    """Models of every member, saved and loaded."""
    shape = Shape(300, 6, 3)
    data = rows(shape)
    everything = models.NAIVE + models.FULL + models.AXES + models.MIXED
    for text, cls, given in everything:
        name = f"saved/{text}"
        _round_trip(record, name, cls(**given).fit(data.X, data.y, data.weight), data.more)
    for what, (X, spec) in mixed_tables(257, 3).items():
        model = fastgnb.MixedNB(categorical_features=spec, missing="skip")
        model = fit(record, f"saved/{what}", model, X, np.arange(257) % 3)
        if model is not None:
            _round_trip(record, f"saved/{what}", model, X)
    for text, cls, given in models.FEW:
        for attribute in ("theta_", "var_", "class_prior_", "means_", "covariance_", "scale_"):
            model = cls(**given).fit(data.X, data.y)
            if hasattr(model, attribute):
                setattr(model, attribute, np.array(getattr(model, attribute)) * 1.0 + 0.0)
                _round_trip(record, f"saved/{text}/{attribute} same", model, data.more)
                factor = np.where(np.arange(shape.k) == 0, 0.5, 0.75)[0]
                setattr(model, attribute, np.array(getattr(model, attribute)) * factor)
                _round_trip(record, f"saved/{text}/{attribute}", model, data.more)
    lessened = fastgnb.ClassStats.from_rows(data.X, data.y)
    lessened = lessened - fastgnb.ClassStats.from_rows(data.X[:40], data.y[:40])
    model = fastgnb.GaussianNB().fit_stats(lessened)
    _round_trip(record, "saved/lessened", model, data.more)


def _round_trip(record: Record, name: str, model: Any, X: Any) -> None:
    with _folder():
        record(f"{name}/saved", lambda: _saved(model))
        again = look(record, f"{name}/loaded", make(record, f"{name}/loaded",
                     lambda: load("m.fgnb")))  # fmt: skip
        score(record, f"{name}/loaded", again, X)


def _saved(model: Any) -> dict[str, Any]:
    save(model, "m.fgnb")
    return content(Path("m.fgnb"))


def content(path: Path) -> dict[str, Any]:
    """Tensors and description of a model file, without the versions that wrote it."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    meta = header.pop("__metadata__")
    document = json.loads(meta["fastgnb"])
    document.pop("versions")
    out = {"document": json.dumps(document, sort_keys=True), "learned": meta.get("learned")}
    for name, tensor in header.items():
        start, stop = tensor["data_offsets"]
        values = data[8 + length + start : 8 + length + stop]
        out[name] = [tensor["dtype"], tensor["shape"], hashlib.sha256(values).hexdigest()]
    return out


@contextmanager
def _folder() -> Iterator[Path]:
    """A new folder that is the current one meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        before = Path.cwd()
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def commands(record: Record) -> None:
    """fit, update, predict, evaluate, merge, reestimate and show on files of every format."""
    for n, k in ((60, 2), (5000, 3)):
        for ending in ("parquet", "csv", "arrow"):
            with _folder():
                _write_tables(n, k, ending)
                _run_commands(record, f"commands/{n}/{ending}", ending)
        with _folder():
            _write_arrays(n, k)
            _run_on_arrays(record, f"commands/{n}/npy")


def _write_tables(n: int, k: int, ending: str) -> None:
    import pandas as pd
    import pyarrow as pa
    from pyarrow import csv, ipc, parquet

    for seed, name in enumerate(("a", "b", "c")):
        data = rows(Shape(n, 4, k), seed)
        draw = np.random.default_rng([seed, n])
        frame = pd.DataFrame(data.X, columns=["w", "x", "y", "z"])
        frame["count"] = draw.integers(0, 50, n)
        frame["flag"] = draw.random(n) < 0.5
        frame["plan"] = np.array(["basic", "plus", "007"])[draw.integers(0, 3, n)]
        frame["weight"] = data.weight
        frame["holes"] = np.where(draw.random(n) < 0.1, np.nan, data.X[:, 0])
        frame["id"] = np.arange(n) + n * seed
        frame["label"] = np.array(["no", "yes", "perhaps"])[data.y]
        table = pa.Table.from_pandas(frame, preserve_index=False)
        path = f"{name}.{ending}"
        if ending == "parquet":
            parquet.write_table(table, path, row_group_size=777)
        elif ending == "csv":
            csv.write_csv(table, path)
        else:
            with ipc.new_file(path, table.schema) as file:
                file.write_table(table, 999)


USES: dict[str, list[str]] = {
    "plain": ["--exclude", "id,plan,holes,weight"],
    "weight": ["--exclude", "id,plan,holes", "--weight", "weight"],
    "features": ["--features", "z,w,count", "--var-smoothing", "1e-3"],
    "holes": ["--exclude", "id,plan,weight", "--missing", "skip"],
    "skipped": ["--exclude", "id,plan,weight", "--on-error", "skip", "--batch-rows", "700"],
    "refused": ["--exclude", "id,plan,weight"],
    "tied": ["--exclude", "id,plan,holes,weight", "--tied", "--covariance-type", "spherical"],
    "full": ["--exclude", "id,plan,holes,weight", "--model-type", "GaussianBayes",
             "--shrinkage", "oas"],
    "axes": ["--exclude", "id,plan,holes,weight", "--model-type", "PCAGaussianNB",
             "--n-components", "2", "--standardize"],
    "mixed": ["--exclude", "id,weight", "--categorical", "plan,flag", "--missing", "skip"],
    "auto": ["--exclude", "id,weight,holes", "--categorical", "auto", "--alpha", "0.5"],
    "one thread": ["--exclude", "id,plan,holes,weight", "--threads", "1"],
}  # fmt: skip


def _run_commands(record: Record, name: str, ending: str) -> None:
    a, b, c = (f"{each}.{ending}" for each in "abc")
    for use, given in USES.items():
        each = f"{name}/{use}"
        _run(record, f"{each}/fit", ["fit", a, b, "--target", "label", *given, "--model", "m.fgnb"],
             "m.fgnb")  # fmt: skip
        if not Path("m.fgnb").exists():
            continue
        _run(record, f"{each}/again", ["update", "m.fgnb", a, "--model", "u.fgnb"], "u.fgnb")
        _run(record, f"{each}/update", ["update", "m.fgnb", c, "--model", "u.fgnb"], "u.fgnb")
        for out in ("parquet", "csv", "arrow"):
            _run(record, f"{each}/predict/{out}", [
                "predict", "m.fgnb", c, "--output", f"out.{out}", "--proba", "--evidence",
                "--keep", "id,plan", "--on-error", "null"], f"out.{out}")  # fmt: skip
        _run(record, f"{each}/evaluate", ["evaluate", "m.fgnb", c, "--json", "e.json",
             "--on-error", "skip"], "e.json")  # fmt: skip
        _run(record, f"{each}/fit c", ["fit", c, "--target", "label", *given, "--model", "c.fgnb"],
             "c.fgnb")  # fmt: skip
        _run(record, f"{each}/merge", ["merge", "m.fgnb", "c.fgnb", "--model", "all.fgnb"],
             "all.fgnb")  # fmt: skip
        for what, more in (("priors", ["--priors", "data", "--var-smoothing", "0.1"]),
                           ("axes", ["--model-type", "PCAGaussianNB", "--n-components", "0.9"]),
                           ("naive", ["--model-type", "GaussianNB", "--tied"])):  # fmt: skip
            _run(record, f"{each}/reestimate {what}", ["reestimate", "m.fgnb", "--output", "r.fgnb",
                 *more], "r.fgnb")  # fmt: skip
        _run(record, f"{each}/show", ["show", "m.fgnb", "--json", "s.json"], "s.json")
        for path in Path().glob("*.fgnb"):
            path.unlink()


def _write_arrays(n: int, k: int) -> None:
    for seed, name in enumerate("abc"):
        data = rows(Shape(n, 4, k), seed)
        np.save(f"{name}.npy", data.X if name != "b" else np.asfortranarray(data.X))
        np.save(f"{name}_y.npy", data.y)


def _run_on_arrays(record: Record, name: str) -> None:
    for use, given in (("plain", []), ("full", ["--model-type", "GaussianBayes", "--tied"])):
        each = f"{name}/{use}"
        _run(record, f"{each}/fit", ["fit", "a.npy", "--target-npy", "a_y.npy", *given, "--model",
             "m.fgnb"], "m.fgnb")  # fmt: skip
        _run(record, f"{each}/update", ["update", "m.fgnb", "b.npy", "--target-npy", "b_y.npy"],
             "m.fgnb")  # fmt: skip
        for what, more, out in (("npy", [], "npy"), ("csv", ["--proba", "--evidence"], "csv")):
            _run(record, f"{each}/predict/{what}", ["predict", "m.fgnb", "c.npy", "--output",
                 f"o.{out}", *more], f"o.{out}")  # fmt: skip
        _run(record, f"{each}/evaluate", ["evaluate", "m.fgnb", "c.npy", "--target-npy",
             "c_y.npy", "--json", "e.json"], "e.json")  # fmt: skip


def _run(record: Record, name: str, argv: list[str], output: str) -> None:
    """Record the exit code of a command and what is in its output afterwards."""
    path = Path(output)
    if path.exists() and output not in argv[1:2]:
        path.unlink()
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        code = record(name, lambda: main(argv))
    record.cases[name]["message"] = " ".join(stream.getvalue().split())[-300:] if code else ""
    record(f"{name}/output", lambda: _content_of(path))


def _content_of(path: Path) -> Any:
    if not path.exists():
        return None
    if path.suffix == ".fgnb":
        return content(path)
    if path.suffix == ".json":
        found = json.loads(path.read_text())
        return json.dumps(_without(found, {"versions", "seconds"}), sort_keys=True)
    return path.read_bytes()


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(v, names) for name, v in value.items() if name not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value


GROUPS = (old_files, model_files, commands)
