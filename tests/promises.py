"""The table of promises in docs/promises.md, made from the tests that hold them.

A test says which it holds by `@pytest.mark.promise("bits")`, by a key of PROMISES.

    python -m tests.promises             prints the table
    python -m tests.promises --write     puts it between the markers of docs/promises.md
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "promises.md"
BEGIN, END = "<!-- promises:begin -->\n", "<!-- promises:end -->\n"

PROMISES = {
    "exact": "Mean and scatter are within 1e-13 of exact arithmetic at mean/sd up to 1e8, over any "
    "number of rows, chunks, files and merges",
    "bits": "Results have the same bits for any number of threads, any threading layer, any BLAS, "
    "any layout of the same numbers, and any x86-64 processor with FMA. Inverses of covariances, "
    "principal axes, and figures of evaluation and diagnosis come out of BLAS and LAPACK, whose "
    "last bits depend on the machine",
    "twins": "Full scatter is as exact, relative to the standard deviations of each pair of "
    "features. Each member equals its counterpart in scikit-learn where that works, in streams and "
    "merges too",
    "rank": "Classes of any rank, distant classes, and features of any units: full, tied and "
    "rotated members equal exact arithmetic on the documented rule, which does not depend on the "
    "order of features",
    "weights": "Only ratios of weights matter, from 5e-324 to 1e300, with rows of any scale, for "
    "every member (`alpha`, the smoothing of categories, is in units of weight)",
    "selection": "`StatsGridSearchCV` and `cross_validate` give what scikit-learn's give on the "
    "same folds: scores, ranks, failures, warnings",
    "neighbours": "A row's scores do not depend on the rows beside it",
    "merging": "Merging is associative and commutative to 1e-13. Subtracted rows are gone to "
    "rounding; where less would be left than the rounding of weights, that is an error",
    "partitions": "The same rows in the same partitions (files, streams, chunks of a cluster) give "
    "statistics of the same bits: rows of a partition are cut every `max(256, min(2**16, "
    "2**23 // (8 * n_features)))` rows, or as `batch_rows` says where it is given, and batches, "
    "then partitions, are merged by the tree of `fastgnb.merge`. Neither the format and its blocks "
    "matter, nor the engine that delivers the rows, nor the number of workers, nor checkpoints, "
    "nor parts without rows. Where an engine loses the order of rows, as Spark does in a shuffle, "
    "statistics are the same to 1e-13",
    "exports": "SQL in DuckDB, SQLite and PostgreSQL, and ONNX graphs in onnxruntime give the "
    "labels of `predict`, for every member and option, unless classes are as close as rounding. "
    "Constants keep every bit, and no name or label is read as SQL",
    "labels": "Labels and categories that Python calls equal are one, whatever types and libraries "
    "they come from; where no type holds all of them exactly, that is an error",
    "columns": "Columns, types and features of a set of files depend neither on the order of the "
    "files nor on parts without rows or values",
    "edits": "Scoring and sampling obey edited fitted attributes, or raise an error; nothing "
    "beyond an array is read",
    "errors": "Bad input is an error that says what was expected, what came and what to do, in "
    "scikit-learn's words where it has some; the model stays as it was",
    "threads": "Any number of Python threads may fit and predict at once, beside other Numba code, "
    "under `omp`, `tbb` and `workqueue`. Forked processes and the pools of joblib and Python work, "
    "and start no more threads than they may",
    "turns": "An answer is that of the model before or after what another thread learns, never of "
    "a mixture; threads that learn into one model take turns",
    "waiting": "Waiting threads sleep instead of spinning, so a busy machine slows calls only in "
    "proportion",
    "interrupts": "Ctrl-C ends a long call or command soon, and models and files are as before. "
    "A signal during or after the final rename of a command's output is ignored, and the exit code "
    "stays 0",
    "degraded": "It works, with one warning at most, if no cache can be written, the disk is full, "
    "or cache entries are damaged or of another version, and without libgomp, TBB or the compiler",
    "kernels": "There are no more than 50 compiled kernels, the types that they take included, and "
    "`fastgnb warmup` compiles all of them",
    "start": "First calls load the kernels that they run, and import neither kernels of other "
    "members nor, where code is cached, Numba's compiler",
    "installs": "Compiled kernels are cached in installs of every kind: archives, only `.pyc`, "
    "frozen applications, read-only folders",
    "service": "Commands in threads, several at once included, leave signal handlers, environment, "
    "streams and thread pools as they were",
    "once": "A file is learned once: a job that is run again is refused, unless told otherwise. "
    "What a killed run left is removed",
    "model files": "Loading a model file executes nothing, takes memory in proportion to the file, "
    "and gives a valid model or a `ModelFileError`. Files of every earlier schema stay readable",
    "same bytes": "Equal statistics give equal bytes in every process, on every machine and in "
    "every version; equal models do with the versions of Python, NumPy and fastgnb that they name",
    "whole": "A command's output is there whole or not at all, also after kill -9 or on a full "
    "disk; its inputs are never written",
    "objects": "Outputs and models in object stores appear complete or not at all. A connection "
    "that is cut while an object is read is made again where it was cut; an object that changes is "
    "an error",
    "memory": "Commands on files of ten columns take less than 256 MB beyond the libraries, for "
    "any number of rows, in one row group or in many. A Parquet column's page and its dictionary "
    "are decoded whole, and pages below 16 kB stay until their row group ends, so wide files take "
    "more",
}


def marked_tests() -> dict[str, dict[str, list[str]]]:
    """Names of tests by key of a promise and file, as the marks in the source say."""
    marked: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for path in sorted(TESTS.rglob("test_*.py")):
        file = path.relative_to(TESTS).with_suffix("").as_posix()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                for key in _keys(node):
                    marked[key].setdefault(file, []).append(node.name)
    return dict(marked)


def _keys(function: ast.FunctionDef) -> Iterator[str]:
    for decorator in function.decorator_list:
        if ast.unparse(decorator).startswith("pytest.mark.promise("):
            assert isinstance(decorator, ast.Call)
            yield from (ast.literal_eval(argument) for argument in decorator.args)


def table() -> str:
    marked = marked_tests()
    lines = ["| promise | held by |", "|---|---|"]
    for key, text in PROMISES.items():
        files = [
            f"`{file}`: " + ", ".join(f"`{name}`" for name in names)
            for file, names in marked.get(key, {}).items()
        ]
        lines.append(f"| {text} | {'; '.join(files)} |")
    return "\n".join(lines) + "\n"


def parts() -> tuple[str, str, str]:
    """The page before its table, the table, and what follows."""
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not (found and end):
        raise SystemExit(f"{PAGE} lacks {BEGIN.strip()} or {END.strip()}")
    return before + found, inside, end + after


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        before, _, after = parts()
        PAGE.write_text(before + table() + after, encoding="utf-8")
    else:
        print(table(), end="")
