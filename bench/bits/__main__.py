"""`python -m bench.bits record FILE` and `python -m bench.bits compare BEFORE AFTER`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code: 1 where cases differ."""
    args = _parser().parse_args(argv)
    return int(args.run(args))


def _record(args: argparse.Namespace) -> int:
    os.environ.setdefault("FASTGNB_QUIET", "1")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # LAPACK's bits, before NumPy is imported
    import numba
    import numpy as np

    import fastgnb

    where = Path(fastgnb.__file__).resolve().parents[1]
    if where != ROOT:
        print(f"fastgnb is imported from {where}, expected {ROOT}", file=sys.stderr)
        return 2
    from . import categories, commands, fits, model_files, searches, updates
    from .digest import Record

    modules = fits, updates, categories, searches, model_files, commands
    groups = [group for module in modules for group in module.GROUPS]
    record = Record()
    for group in groups:
        if args.only and group.__name__ not in args.only:
            continue
        start, before = time.perf_counter(), len(record.cases)
        group(record)
        spent, count = time.perf_counter() - start, len(record.cases) - before
        print(f"{group.__name__}: {count} cases, {spent:.1f} s", file=sys.stderr)
    head = {
        "package": fastgnb.__file__, "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__,
        "threads": numba.get_num_threads(),
    }  # fmt: skip
    text = json.dumps({"head": head, "cases": record.cases}, indent=0)
    Path(args.file).write_text(text + "\n", encoding="utf-8")
    print(f"{len(record.cases)} cases of {fastgnb.__file__}")
    return 0


def _compare(args: argparse.Namespace) -> int:
    before, after = (json.loads(Path(path).read_text()) for path in (args.before, args.after))
    old, new = before["cases"], after["cases"]
    if args.only:
        old, new = (
            {n: c for n, c in cases.items() if n.startswith(args.only)} for cases in (old, new)
        )
    print(f"before: {before['head']['package']}, {len(old)} cases")
    print(f"after:  {after['head']['package']}, {len(new)} cases")
    missing = sorted(old.keys() - new.keys())
    added = sorted(new.keys() - old.keys())
    differ = [name for name in old if name in new and _kept(old[name]) != _kept(new[name])]
    for title, names in (("only before", missing), ("only after", added)):
        for name in names[: args.most]:
            print(f"{title}: {name}")
    for name in differ[: args.most]:
        print(f"differs: {name}\n  {_text(old[name])}\n  {_text(new[name])}")
    reworded = [
        n for n in old if n in new and n not in differ and _message(old, n) != _message(new, n)
    ]
    if args.messages:
        for name in reworded[: args.most]:
            print(f"reworded: {name}\n  {_message(old, name)}\n  {_message(new, name)}")
    print(
        f"{len(differ)} differ, {len(missing)} only before, {len(added)} only after; "
        f"{len(reworded)} errors have another text, which is no difference"
    )
    return 1 if differ or missing or added else 0


def _kept(case: dict[str, Any]) -> dict[str, Any]:
    return {name: case[name] for name in ("digest", "error", "warnings") if name in case}


def _message(cases: dict[str, Any], name: str) -> str:
    return str(cases[name].get("message", ""))


def _text(case: dict[str, Any]) -> str:
    what = f"{case['error']}: {case['message']}" if "error" in case else case["summary"]
    return f"{what} {case.get('warnings', '')}".strip()[:300]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.bits", description=__doc__)
    commands = parser.add_subparsers(required=True)
    record = commands.add_parser("record", help="write the digests of this checkout's answers")
    record.add_argument("file")
    record.add_argument("--only", nargs="+", metavar="GROUP")
    record.set_defaults(run=_record)
    compare = commands.add_parser("compare", help="list what differs between two recordings")
    compare.add_argument("before")
    compare.add_argument("after")
    compare.add_argument("--only", metavar="PREFIX", help="cases whose names start so")
    compare.add_argument("--most", type=int, default=30, help="names of each kind to print")
    compare.add_argument("--messages", action="store_true", help="print errors that were reworded")
    compare.set_defaults(run=_compare)
    return parser


if __name__ == "__main__":
    sys.exit(main())
