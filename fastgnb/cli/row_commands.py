"""The commands that read rows: fit, update, predict, evaluate, diagnose, report.

Each hands its arguments to a job of `files`, and ends with a line that says what was done.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .._system.atomic import atomic_write
from ..files.jobs.bad_rows import left_out_texts
from ..files.jobs.choices import Choice
from ..files.jobs.class_limit import MAX_CLASSES
from ..files.jobs.file_scorer import Answers
from ..files.jobs.learn_files import fit_files, fit_shard, update_files
from ..files.jobs.options import EvaluateOptions, LearnOptions, ReadOptions
from ..files.jobs.score_files import evaluate_files
from ..files.jobs.score_folder import FolderDone, predict_into
from ..files.outputs import check_output
from ..files.phrases import counted, listed
from ..files.tables.columns import ColumnRoles
from .file_arguments import file_options
from .options import categorical_names, choice_of
from .standard_streams import deliver, shown
from .streams import prefix_stdout, print_stdout
from .summary import messages_of, print_done, shape_of
from .texts import evaluation_text

__all__ = ["diagnose", "evaluate", "fit", "predict", "report", "update"]


def fit(args: argparse.Namespace) -> int:
    """`fastgnb fit`."""
    start = time.perf_counter()
    choice = choice_of(args)
    columns = ColumnRoles(
        args.target, args.weight, args.features, args.exclude, categorical=categorical_names(args),
        drop_null_target=args.drop_null_target,
    )  # fmt: skip
    options = replace(
        _learn_options(args), checkpoint=args.checkpoint, shard=args.shard, workers=args.workers
    )
    if options.shard is not None:
        return _fit_shard(args, columns, choice, options, start)
    done = fit_files(columns, choice, options, args.model, messages_of(args))
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


def _fit_shard(
    args: argparse.Namespace,
    columns: ColumnRoles,
    choice: Choice,
    options: LearnOptions,
    start: float,
) -> int:
    done = fit_shard(columns, choice, options, messages_of(args))
    parts = [
        "shard {}/{}".format(*args.shard),
        f"{done.n_shard:,} of {counted(done.n_files, 'file')}",
    ]
    _finish(args, parts, args.checkpoint, start)
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
    options, answers = ReadOptions(**_reading(args)), Answers(args.proba, args.evidence, args.keep)
    done = predict_into(args.model, args.output, options, messages_of(args), answers, args.workers)
    texts = left_out_texts(done.counts, args.on_error)
    parts = [counted(done.counts.n_rows, "row"), *texts, *shape_of(done.model)]
    if isinstance(done, FolderDone):
        parts.append(counted(done.n_files, "file"))
        if done.n_before:
            parts[-1] += f" of which {done.n_before:,} were done before"
    _finish(args, parts, args.output, start)
    return 0


def evaluate(args: argparse.Namespace) -> int:
    """`fastgnb evaluate`."""
    start = time.perf_counter()
    _check_json(args)
    options = EvaluateOptions(
        **_reading(args), **_labels(args), weight=args.weight, thresholds=args.thresholds
    )
    done = evaluate_files(args.model, options, messages_of(args))
    _print_result(args, evaluation_text, done.evaluation)
    texts = left_out_texts(done.counts, args.on_error)
    parts = [counted(done.counts.n_rows, "row"), *texts, *shape_of(done.model)]
    _finish(args, parts, None if args.json == "-" else args.json, start)
    return 0


def diagnose(args: argparse.Namespace) -> int:
    """`fastgnb diagnose`."""
    start = time.perf_counter()
    # They take scipy, which no other command needs.
    from ..files.jobs.diagnose_files import diagnose_files
    from .diagnosis_text import diagnosis_text

    _check_json(args)
    options = ReadOptions(**_reading(args), **_labels(args), weight=args.weight)
    done = diagnose_files(args.model, options, messages_of(args))
    _print_result(args, diagnosis_text, done.diagnosis)
    texts = left_out_texts(done.counts, args.on_error)
    parts = [counted(done.counts.n_rows, "row"), *texts, *shape_of(done.model)]
    _finish(args, parts, None if args.json == "-" else args.json, start)
    return 0


def report(args: argparse.Namespace) -> int:
    """`fastgnb report`."""
    from ..report.write import report_files  # of the extra `plot`, which the others do without

    start = time.perf_counter()
    options = ReadOptions(**_reading(args), **_labels(args), weight=args.weight)
    done = report_files(args.model, args.output, options, messages_of(args), title=args.title)
    texts = left_out_texts(done.counts, args.on_error)
    parts = [counted(done.counts.n_rows, "row"), *texts, *shape_of(done.saved.model)]
    _finish(args, parts, args.output, start)
    return 0


def _check_json(args: argparse.Namespace) -> None:
    """Raise SourceError where --json names a file that is read, or that cannot be written."""
    if args.json not in (None, "-"):
        check_output(args.json, [args.model, args.target_npy], args.data, args.format)


def _print_result(args: argparse.Namespace, as_text: Callable[[Any], str], result: Any) -> None:
    """Print a result as text, or with --json - as JSON, and write it to the file of --json.

    Only what is asked for is made of it.
    """
    if args.json == "-":
        print_stdout(json.dumps(result.as_dict(), indent=1))
        return
    print_stdout(as_text(result))
    if args.json is not None:
        text = json.dumps(result.as_dict(), indent=1)
        with atomic_write(args.json, final=True) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")


def _reading(args: argparse.Namespace) -> dict[str, Any]:
    """What every command says of reading rows. A progress bar needs a terminal."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return {
        "paths": args.data,
        "on_error": args.on_error,
        "batch_rows": args.batch_rows,
        "progress": is_terminal and not args.quiet,
        "files": file_options(args),
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
    deliver(args)
    if sys.stdout is not None:
        with prefix_stdout():
            sys.stdout.flush()
    if not args.quiet:
        print_done(args.command, parts, output and shown(args, output), time.perf_counter() - start)
