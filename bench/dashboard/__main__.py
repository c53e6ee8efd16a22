"""Write the page of benchmark results: `python -m bench.dashboard bench/results --output site/`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fastgnb.dashboard import write_page

from .. import runs
from .model import run_of
from .questions import QUESTIONS


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    args = _parser().parse_args(argv)
    try:
        path = make(args.results, Path(args.output), args.home)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(path)
    return 0


def make(results: Sequence[str | Path], output: Path, home: str = "") -> Path:
    """Write index.html into a folder, from files of results and all files of folders."""
    paths = [path for name in results for path in _files(Path(name))]
    if not paths:
        named = ", ".join(map(str, results))
        raise ValueError(f"Expected at least one file of results, got none in {named}.")
    kept = [run_of(runs.read_file(path)) for path in paths]
    output.mkdir(parents=True, exist_ok=True)
    write_page(output / "index.html", kept, QUESTIONS, home=home)
    return output / "index.html"


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.json")) if path.is_dir() else [path]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.dashboard", description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULTS", help="folders or files")
    parser.add_argument("--output", required=True, metavar="FOLDER")
    parser.add_argument("--home", default="", metavar="URL", help="link to the documentation")
    return parser


if __name__ == "__main__":
    sys.exit(main())
