"""The commands that read rows: fit, update, predict, evaluate.

Each hands its arguments to a job of `files`, and ends with a line that says what was done.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from .._system.atomic import atomic_write
from ..files.jobs.bad_rows import left_out_texts
from ..files.jobs.class_limit import MAX_CLASSES
from ..files.jobs.learn_files import fit_files, update_files
from ..files.jobs.options import LearnOptions, ReadOptions
from ..files.jobs.score_files import evaluate_files, predict_files
from ..files.outputs import check_output
from ..files.phrases import counted, listed
from ..files.tables.columns import ColumnRoles
from .options import categorical_names, choice_of
from .report import evaluation_text
from .streams import prefix_stdout, print_stdout
from .summary import messages_of, print_done, shape_of

__all__ = ["evaluate", "fit", "predict", "update"]


def fit(args: argparse.Namespace) -> int:
    """`fastgnb fit`."""
    start = time.perf_counter()
    choice = choice_of(args)
    columns = ColumnRoles(
        args.target, args.weight, args.features, args.exclude, categorical=categorical_names(args),
        drop_null_target=args.drop_null_target,
    )  # fmt: skip
    done = fit_files(columns, choice, _learn_options(args), args.model, messages_of(args))
    parts = [
        counted(done.counts.n_rows, "row"),
        *left_out_texts(done.counts, args.on_error),
        *shape_of(done.saved.model),
    ]
    if done.left_out:
        names = listed(done.left_out)
        parts.append(f"left out {counted(len(done.left_out), 'column')} ({names})")
    _finish(args, parts, args.model, start)
    return 0


def update(args: argparse.Namespace) -> int:
    """`fastgnb update`."""
    start = time.perf_counter()
    output = args.output or args.model
    done = update_files(args.model, _learn_options(args), output, messages_of(args))
    parts = [
        counted(done.counts.n_rows, "row"),
        *left_out_texts(done.counts, args.on_error),
        *shape_of(done.saved.model),
    ]
    if done.new:
        parts.append(f"{counted(len(done.new), 'new class', 'new classes')} ({listed(done.new)})")
    parts.append(f"total weight {done.saved.model.stats.count.sum():,.12g}")
    _finish(args, parts, output, start)
    return 0


def predict(args: argparse.Namespace) -> int:
    """`fastgnb predict`."""
    start = time.perf_counter()
    done = predict_files(
        args.model, args.output, ReadOptions(**_reading(args)), messages_of(args),
        proba=args.proba, evidence=args.evidence, keep=args.keep,
    )  # fmt: skip
    texts = left_out_texts(done.counts, args.on_error)
    parts = [counted(done.counts.n_rows, "row"), *texts, *shape_of(done.model)]
    _finish(args, parts, args.output, start)
    return 0


def evaluate(args: argparse.Namespace) -> int:
    """`fastgnb evaluate`."""
    start = time.perf_counter()
    is_file = args.json not in (None, "-")
    if is_file:
        check_output(args.json, [args.model, args.target_npy], args.data)
    options = ReadOptions(**_reading(args), **_labels(args))
    done = evaluate_files(args.model, options, messages_of(args))
    text = json.dumps(done.evaluation.as_dict(), indent=1)
    print_stdout(text if args.json == "-" else evaluation_text(done.evaluation))
    if is_file:
        with atomic_write(args.json, final=True) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
    texts = left_out_texts(done.counts, args.on_error)
    parts = [counted(done.counts.n_rows, "row"), *texts, *shape_of(done.model)]
    _finish(args, parts, args.json if is_file else None, start)
    return 0


def _reading(args: argparse.Namespace) -> dict[str, Any]:
    """What every command says of reading rows. A progress bar needs a terminal."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return {
        "paths": args.data,
        "on_error": args.on_error,
        "batch_rows": args.batch_rows,
        "progress": is_terminal and not args.quiet,
    }


def _labels(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "target": args.target,
        "target_npy": args.target_npy,
        "drop_null_target": args.drop_null_target,
    }


def _learn_options(args: argparse.Namespace) -> LearnOptions:
    return LearnOptions(
        **_reading(args), **_labels(args), weight=args.weight, again=args.again,
        max_classes=args.max_classes or MAX_CLASSES,
    )  # fmt: skip


def _finish(args: argparse.Namespace, parts: list[str], output: str | None, start: float) -> None:
    """Say what was done, once all output is out."""
    if sys.stdout is not None:
        with prefix_stdout():
            sys.stdout.flush()
    if not args.quiet:
        print_done(args.command, parts, output, time.perf_counter() - start)
