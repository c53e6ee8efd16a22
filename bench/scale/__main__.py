"""`python -m bench.scale`: measure, print the tables, and write them where asked."""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PARTS = {"billion": "billion", "dask": "on_dask", "spark": "on_spark"}
PACKAGES = (
    "fastgnb", "numpy", "numba", "pyarrow", "dask", "distributed", "dask-ml", "pyspark",
)  # fmt: skip
RESULTS = Path(__file__).with_name("results.json")
ROOT = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns 1 where a part failed, else 0."""
    args = _parser().parse_args(argv)
    if args.inner:
        figures = run_part(args.part[0], args)
        args.inner.write_text(json.dumps(figures), encoding="utf-8")
        return 0
    from . import page

    run = measure(args)
    print(page.tables(run))
    if args.json:
        args.json.write_text(json.dumps(run, indent=1), encoding="utf-8")
    failed = any("error" in figures for figures in run["parts"].values())
    if args.write and not failed:
        run = _with_parts_before(run)
        RESULTS.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        page.write(run)
    return int(failed)


def run_part(part: str, args: argparse.Namespace) -> dict[str, Any]:
    """The figures of one part, measured in this process."""
    module = importlib.import_module(f"{__package__}.{PARTS[part]}")
    arguments = (args.rows,) if part == "billion" else (args.engine_rows, args.workers)
    figures: dict[str, Any] = module.run(*arguments)
    return figures


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of each part, which has a process of its own; of one that fails, its error."""
    from fastgnb.dashboard.machine import versions

    from ..environment import describe

    machine = describe() | {"versions": versions(PACKAGES)}
    run: dict[str, Any] = {"date": datetime.datetime.now().isoformat(), "machine": machine}
    run["parts"] = {part: _in_process(part, args) for part in args.part}
    return run


def _in_process(part: str, args: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "figures.json")
        command = [
            sys.executable, "-m", "bench.scale", "--inner", str(path), "--part", part,
            "--rows", str(args.rows), "--engine-rows", str(args.engine_rows),
            "--workers", *map(str, args.workers),
        ]  # fmt: skip
        environment = dict(os.environ, FASTGNB_QUIET="1")
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, timeout=args.timeout, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"error": f"not done after {args.timeout:g} s"}
        if done.returncode or not path.exists():
            print(done.stdout, file=sys.stderr)
            last = [line for line in done.stdout.splitlines() if line.strip()] or ["no output"]
            return {"error": f"exit code {done.returncode}: {last[-1].strip()}"}
        figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return figures


def _with_parts_before(run: dict[str, Any]) -> dict[str, Any]:
    """The run, with the parts of the last one that it lacks."""
    if not RESULTS.exists():
        return run
    before = json.loads(RESULTS.read_text(encoding="utf-8"))["parts"]
    parts = before | run["parts"]
    return run | {"parts": {part: parts[part] for part in PARTS if part in parts}}


def _number(text: str) -> int:
    value = float(text)
    if not (value >= 1 and value.is_integer()):
        raise argparse.ArgumentTypeError(f"expected a whole number such as 1e9, got {text!r}")
    return int(value)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rows", type=_number, default=10**9, help="of the stream (1e9)")
    parser.add_argument(
        "--engine-rows", type=_number, default=2 * 10**7, help="of each engine (2e7)"
    )
    parser.add_argument(
        "--workers", nargs="+", type=_number, default=[1, 2], metavar="N",
        help="numbers of workers, or cores, of the clusters (1 2)",
    )  # fmt: skip
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds of a part (900)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    parser.add_argument(
        "--write", action="store_true", help="write results.json and the tables of docs/scale.md"
    )
    parser.add_argument("--inner", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
