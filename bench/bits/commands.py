"""Cases of commands: what they write, from files of every format."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv, ipc, parquet

from fastgnb.cli import main

from .digest import Record
from .model_files import content, folder
from .rows import Shape, rows


def commands(record: Record) -> None:
    """fit, update, predict, evaluate, merge, reestimate and show."""
    for n, k in ((60, 2), (5000, 3)):
        for ending in ("parquet", "csv", "arrow"):
            with folder():
                _write_tables(n, k, ending)
                for use, options in USES.items():
                    _run_on_tables(record, f"commands/{n}/{ending}/{use}", ending, options)
        with folder():
            _write_arrays(n, k)
            for use, options in ARRAY_USES.items():
                _run_on_arrays(record, f"commands/{n}/npy/{use}", options)


USES = {
    "plain": "--exclude id,plan,holes,weight",
    "weight": "--exclude id,plan,holes --weight weight",
    "features": "--features z,w,count --var-smoothing 1e-3",
    "holes": "--exclude id,plan,weight --missing skip",
    "skipped": "--exclude id,plan,weight --on-error skip --batch-rows 700",
    "refused": "--exclude id,plan,weight",
    "tied": "--exclude id,plan,holes,weight --tied --covariance-type spherical",
    "full": "--exclude id,plan,holes,weight --model-type GaussianBayes --shrinkage oas",
    "axes": "--exclude id,plan,holes,weight --model-type PCAGaussianNB --n-components 2"
    " --standardize",
    "mixed": "--exclude id,weight --categorical plan,flag --missing skip",
    "auto": "--exclude id,weight,holes --categorical auto --alpha 0.5",
    "one thread": "--exclude id,plan,holes,weight --threads 1",
}
ARRAY_USES = {"plain": "", "full": "--model-type GaussianBayes --tied"}
CHANGES = {
    "priors": "--priors data --var-smoothing 0.1",
    "axes": "--model-type PCAGaussianNB --n-components 0.9",
    "naive": "--model-type GaussianNB --tied",
}


def _write_tables(n: int, k: int, ending: str) -> None:
    for seed, name in enumerate("abc"):
        table = pa.Table.from_pandas(_frame(n, k, seed), preserve_index=False)
        path = f"{name}.{ending}"
        if ending == "parquet":
            parquet.write_table(table, path, row_group_size=777)
        elif ending == "csv":
            csv.write_csv(table, path)
        else:
            with ipc.new_file(path, table.schema) as file:
                file.write_table(table, 999)


def _frame(n: int, k: int, seed: int) -> pd.DataFrame:
    data = rows(Shape(n, 4, k), seed)
    rng = np.random.default_rng([seed, n])
    frame = pd.DataFrame(data.X, columns=["w", "x", "y", "z"])
    frame["count"] = rng.integers(0, 50, n)
    frame["flag"] = rng.random(n) < 0.5
    frame["plan"] = np.array(["basic", "plus", "007"])[rng.integers(0, 3, n)]
    frame["weight"] = data.weight
    frame["holes"] = np.where(rng.random(n) < 0.1, np.nan, data.X[:, 0])
    frame["id"] = np.arange(n) + n * seed
    frame["label"] = np.array(["no", "yes", "perhaps"])[data.y]
    return frame


def _run_on_tables(record: Record, name: str, ending: str, options: str) -> None:
    a, b, c = (f"{stem}.{ending}" for stem in "abc")

    def run(case: str, words: str, output: str) -> None:
        _run(record, f"{name}/{case}", words, output)

    run("fit", f"fit {a} {b} --target label {options} --model m.fgnb", "m.fgnb")
    if not Path("m.fgnb").exists():
        return
    run("again", f"update m.fgnb {a} --model u.fgnb", "u.fgnb")
    run("update", f"update m.fgnb {c} --model u.fgnb", "u.fgnb")
    for out in ("parquet", "csv", "arrow"):
        predict = f"predict m.fgnb {c} --output out.{out} --proba --evidence"
        run(f"predict/{out}", f"{predict} --keep id,plan --on-error null", f"out.{out}")
    run("evaluate", f"evaluate m.fgnb {c} --json e.json --on-error skip", "e.json")
    run("fit c", f"fit {c} --target label {options} --model c.fgnb", "c.fgnb")
    run("merge", "merge m.fgnb c.fgnb --model all.fgnb", "all.fgnb")
    for change, words in CHANGES.items():
        reestimate = f"reestimate m.fgnb --output r.fgnb {words}"
        run(f"reestimate {change}", reestimate, "r.fgnb")
    run("show", "show m.fgnb --json s.json", "s.json")
    for path in Path().glob("*.fgnb"):
        path.unlink()


def _write_arrays(n: int, k: int) -> None:
    for seed, name in enumerate("abc"):
        data = rows(Shape(n, 4, k), seed)
        np.save(f"{name}.npy", np.asfortranarray(data.X) if name == "b" else data.X)
        np.save(f"{name}_y.npy", data.y)


def _run_on_arrays(record: Record, name: str, options: str) -> None:
    fit = f"fit a.npy --target-npy a_y.npy {options} --model m.fgnb"
    _run(record, f"{name}/fit", fit, "m.fgnb")
    _run(record, f"{name}/update", "update m.fgnb b.npy --target-npy b_y.npy", "m.fgnb")
    for out, words in (("npy", ""), ("csv", "--proba --evidence")):
        predict = f"predict m.fgnb c.npy --output o.{out} {words}"
        _run(record, f"{name}/predict/{out}", predict, f"o.{out}")
    evaluate = "evaluate m.fgnb c.npy --target-npy c_y.npy --json e.json"
    _run(record, f"{name}/evaluate", evaluate, "e.json")


def _run(record: Record, name: str, words: str, output: str) -> None:
    """Record the exit code of a command, and the content of its output afterwards."""
    argv, path = words.split(), Path(output)
    if path.exists() and argv[1] != output:
        path.unlink()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = record(name, lambda: main(argv))
    record.cases[name]["message"] = " ".join(printed.getvalue().split())[-300:] if code else ""
    record(f"{name}/output", lambda: _content_of(path))


def _content_of(path: Path) -> Any:
    if not path.exists():
        return None
    if path.suffix == ".fgnb":
        return content(path)
    if path.suffix == ".json":
        document = json.loads(path.read_text())
        return json.dumps(_without(document, {"versions", "seconds"}), sort_keys=True)
    return path.read_bytes()


def _without(value: Any, names: set[str]) -> Any:
    """JSON values without the members of these names."""
    if isinstance(value, dict):
        return {name: _without(item, names) for name, item in value.items() if name not in names}
    return [_without(item, names) for item in value] if isinstance(value, list) else value


GROUPS = (commands,)
