"""The commands that read rows: fit, update, predict, evaluate.

Each command checks its paths first, then the plan of its files, and only then reads, and ends with
a line that says what it did. The work itself is in `_learn_rows` and `_score_rows`.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._system.atomic import atomic_write, check_writable, is_same_file
from ..files.auto_columns import AutoColumns
from ..files.bad_rows import BadRows
from ..files.learn_rows import MAX_CLASSES, ClassLimit, learn
from ..files.models.container import check_no_table
from ..files.models.learned import LearnedFile, check_new, check_once, fingerprint, joined
from ..files.models.model_file import ModelFile, read
from ..files.phrases import counted, listed
from ..files.score_rows import bad_rows_of, evaluate_rows, predict_rows
from ..files.tables.columns import ColumnRoles
from ..files.tables.sources import RowSource, SourceError, expand, open_rows, rows_in_batch
from ..files.unknown_categories import UnknownCategories
from ..model.findings import KeyWatch
from ..model.model import Model
from .choices import Choice, choose_for_fit, value_of
from .report import evaluation_text, finding_texts, prefix_stdout, print_stderr, print_stdout
from .summary import print_done, shape_of

__all__ = ["evaluate", "evaluate_rows", "fit", "learn", "predict", "predict_rows", "update"]


def fit(args: argparse.Namespace) -> int:
    """`fastgnb fit`."""
    start = time.perf_counter()
    choice = choose_for_fit(args)
    _check_output(args.model, args.data, args.target_npy)
    check_no_table(args.model)
    columns = ColumnRoles(
        args.target, args.weight, args.features, args.exclude, categorical=_marks(args),
        drop_null_target=args.drop_null_target,
    )  # fmt: skip
    source = open_rows(args.data, columns, target_npy=args.target_npy, batch_rows=args.batch_rows)
    files = _new_files(args, source)
    _check_components(source, value_of(choice, "n_components"))
    _note_plan(args, source)
    bad = _bad_rows(args, choice)
    watch = KeyWatch()
    most = value_of(choice, "max_categories")
    auto = AutoColumns(most) if args.categorical_features == "auto" else None
    limit = _limit(args, args.target, args.priors)
    stats = learn(
        source, missing=args.missing, mixed=choice.member.takes_categories,
        scatter="full" if choice.member.needs_full_scatter else "diag",
        quiet=args.quiet, bad=bad, limit=limit, watch=watch, auto=auto, max_categories=most,
    )  # fmt: skip
    if stats is None:
        raise SourceError(f"{source.paths[0]}: no rows to fit{_all_left_out(bad, source)}")
    limit.check_priors(source.paths[0])
    model = choice.of(stats)
    ModelFile(model, args.target, args.weight, _with_rows(files, limit)).write(args.model)
    keys = auto.left_out if auto else []
    _warn_of_copies(files, limit)
    _note_rows(args, model, keys, watch)
    parts = [counted(limit.n_rows, "row"), *_left_out(bad, source), *shape_of(model)]
    if names := [*source.left_out, *keys]:
        parts.append(f"left out {counted(len(names), 'column')} ({listed(names)})")
    _finish(args, "fit", parts, args.model, start)
    return 0


def update(args: argparse.Namespace) -> int:
    """`fastgnb update`."""
    start = time.perf_counter()
    output = args.output or args.model
    _check_output(output, args.data, args.target_npy)
    check_no_table(output)
    saved = read(args.model)
    model = saved.model
    columns = _labelled_columns(saved, args)
    source = _open_for(model, args, columns)
    files = _new_files(args, source, saved)
    bad = bad_rows_of(model, args.on_error)
    limit = _limit(args, columns.target, model.options["priors"], model.classes)
    stats = learn(
        source, model.stats, missing=model.missing, quiet=args.quiet, bad=bad, limit=limit,
        max_categories=model.options.get("max_categories"),
    )  # fmt: skip
    _check_target(saved, columns.target, limit, args.model)
    updated = model.with_stats(stats)
    learned = joined(saved.learned, _with_rows(files, limit))
    ModelFile(updated, saved.target, saved.weight, learned).write(output)
    _warn_of_copies(files, limit)
    if not args.again:
        _warn_of_changes(saved.learned, files, limit)
    parts = [counted(limit.n_rows, "row"), *_left_out(bad, source), *shape_of(updated)]
    new = limit.new()
    if new:
        parts.append(f"{counted(len(new), 'new class', 'new classes')} ({listed(new)})")
    parts.append(f"total weight {updated.stats.count.sum():,.12g}")
    _finish(args, "update", parts, output, start)
    return 0


def predict(args: argparse.Namespace) -> int:
    """`fastgnb predict`."""
    start = time.perf_counter()
    _check_output(args.output, args.data, args.model)
    model = read(args.model).model
    _check_nulls(model, args)
    outputs = len(model.classes) if args.proba else 0
    source = _open_for(model, args, ColumnRoles(keep=args.keep), outputs)
    bad, unknown = bad_rows_of(model, args.on_error, ("skip", "null")), UnknownCategories(model)
    rows = predict_rows(
        model, source, args.output, proba=args.proba, evidence=args.evidence, quiet=args.quiet,
        final=True, bad=bad, unknown=unknown,
    )  # fmt: skip
    _note_unknown(args, unknown)
    parts = [counted(rows, "row"), *_left_out(bad, source), *shape_of(model)]
    _finish(args, "predict", parts, args.output, start)
    return 0


def evaluate(args: argparse.Namespace) -> int:
    """`fastgnb evaluate`."""
    start = time.perf_counter()
    is_file = args.json not in (None, "-")
    if is_file:
        _check_output(args.json, args.data, args.model, args.target_npy)
    saved = read(args.model)
    model = saved.model
    columns = _labelled_columns(saved, args, weight=False)
    source = _open_for(model, args, columns, len(model.classes))
    bad, unknown = bad_rows_of(model, args.on_error), UnknownCategories(model)
    found = evaluate_rows(
        model, source, quiet=args.quiet, bad=bad, target=_target_name(saved, args), unknown=unknown
    )
    _note_unknown(args, unknown)
    if found.n_unseen:
        rows = counted(found.n_unseen, "row")
        _note(args, f"{rows} of {found.n_rows:,} with labels that the model does not know: wrong")
    everything = found.as_dict() | {"n_skipped_rows": bad.n, "n_null_labels": source.n_dropped}
    text = json.dumps(everything, indent=1)
    print_stdout(text if args.json == "-" else evaluation_text(found))
    if is_file:
        with atomic_write(args.json, final=True) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
    parts = [counted(found.n_rows, "row"), *_left_out(bad, source), *shape_of(model)]
    _finish(args, "evaluate", parts, args.json if is_file else None, start)
    return 0


# ------------------------------------------------------------------ checks and messages


def _bad_rows(args: argparse.Namespace, choice: Choice) -> BadRows:
    """What happens to rows that the model to come cannot take."""
    can_skip = choice.member.has("missing")
    return BadRows(args.on_error, skip=args.missing == "skip", can_skip=can_skip)


def _marks(args: argparse.Namespace) -> tuple[str, ...] | str:
    """The columns that --categorical names."""
    given = args.categorical_features
    return given if isinstance(given, str) else tuple(given or ())


def _open_for(
    model: Model, args: argparse.Namespace, columns: ColumnRoles, outputs: int = 0
) -> RowSource:
    """Rows with the columns of a model, by name; those of .npy, which has none, by position.

    `outputs` is how many numbers each row is turned into: they take memory as features do.
    """
    paths = expand(args.data)
    names = model.feature_names
    by_name = any(path.suffix.lower() != ".npy" for path in paths)
    if by_name and names is None:
        raise SourceError(
            f"{args.model}: this model was fitted without column names; give it .npy data"
        )
    if by_name:
        kinds = _kinds_of_categories(model)
        columns = ColumnRoles(
            columns.target, columns.weight, names, (), columns.keep, tuple(kinds),
            {name: kind for name, kind in kinds.items() if kind},
            text_labels=tuple(model.classes.tolist()) if model.classes.dtype.kind in "OU" else (),
            drop_null_target=columns.drop_null_target, of_model=True,
        )  # fmt: skip
    elif "text" in _kinds_of_categories(model).values():
        raise SourceError(f"{paths[0]}: .npy holds numbers, and the model has categories of text")
    target_npy = getattr(args, "target_npy", None)
    rows = args.batch_rows or rows_in_batch(model.n_features + outputs, np.dtype(np.float64))
    source = open_rows(paths, columns, target_npy=target_npy, batch_rows=rows)
    _note_plan(args, source)
    if source.n_features != model.n_features:
        raise SourceError(
            f"{source.paths[0]}: {source.n_features} columns, expected {model.n_features}, "
            "those of the model"
        )
    if not by_name and names is not None:
        _note(args, "columns of .npy have no names and are taken in the order of the model")
    _check_labels(model, source)
    return source


def _kinds_of_categories(model: Model) -> dict[str, str | None]:
    """The kind of categories, if known, of each categorical feature, by name or position."""
    if not model.member.takes_categories:
        return {}
    names, kinds = model.feature_names, {}
    at = np.flatnonzero(model.stats.is_categorical).tolist()
    for j, labels in zip(at, model.stats.categories, strict=True):
        kind = None if not len(labels) else "text" if labels.dtype.kind == "O" else "number"
        kinds[str(j) if names is None else names[j]] = kind
    return kinds


def _labelled_columns(
    saved: ModelFile, args: argparse.Namespace, *, weight: bool = True
) -> ColumnRoles:
    """Target and weight as given, else those of the files that the model learned from."""
    if args.target_npy is not None:
        return ColumnRoles(drop_null_target=args.drop_null_target)
    if args.target is None and saved.target is None:
        raise SourceError(
            f"{args.model}: does not know its target column; name it with --target, or give "
            "labels with --target-npy"
        )
    target = args.target or saved.target
    weights = (args.weight or saved.weight) if weight else None
    return ColumnRoles(target, weights, drop_null_target=args.drop_null_target)


def _target_name(saved: ModelFile, args: argparse.Namespace) -> str:
    """What the labels are called in a message."""
    if args.target_npy is not None:
        return str(args.target_npy)
    return f"target {args.target or saved.target!r}{'' if args.target else ', as in fit'}"


def _check_labels(model: Model, source: RowSource) -> None:
    """Labels of another kind than the model's are never equal to them: "1" is not 1."""
    kinds = {"b": "boolean", "i": "number", "u": "number", "f": "number"}
    kind = kinds.get(model.classes.dtype.kind, "text")
    if source.target_kind not in (None, kind):
        example = source.target_example
        because = "" if example is None else f"; {example!r} is not spelled as a {kind} is"
        raise SourceError(
            f"{source.paths[0]}: the target holds labels of kind {source.target_kind}, "
            f"expected {kind}, as the model has{because}"
        )


def _check_output(output: str, data: Iterable[str], *others: str | None) -> None:
    """The output can be written, and is none of the inputs, which it would replace."""
    check_writable(output)
    apart = [pathlib.Path(other) for other in others if other is not None]
    for path in [*expand(data), *apart]:
        if is_same_file(path, output):
            raise SourceError(f"{output}: the output would replace an input")


def _note(args: argparse.Namespace, text: str) -> None:
    if not args.quiet:
        print_stderr(f"note: {text}")


def _note_unknown(args: argparse.Namespace, unknown: UnknownCategories) -> None:
    for text in unknown.texts():
        _note(args, text)


def _new_files(
    args: argparse.Namespace, source: RowSource, saved: ModelFile | None = None
) -> dict[pathlib.Path, LearnedFile]:
    """Fingerprints of the files to learn. Raises ValueError where some would count twice."""
    files = {path: fingerprint(path, args.target_npy) for path in source.paths}
    if not args.again:
        check_once(source.paths)
        if saved is not None:
            check_new(saved.learned, list(files.values()), args.model)
    return files


def _with_rows(
    files: dict[pathlib.Path, LearnedFile], limit: ClassLimit
) -> tuple[LearnedFile, ...]:
    """Fingerprints of those files of which rows were learned: of the others the next may be new."""
    return joined((), sorted(file for path, file in files.items() if path in limit.paths))


def _warn_of_changes(
    learned: Iterable[LearnedFile], files: dict[pathlib.Path, LearnedFile], limit: ClassLimit
) -> None:
    """Say which files have names that were learned with other contents, perhaps grown since."""
    names = {file.name for file in learned}
    for path, file in files.items():
        if path in limit.paths and file.name in names:
            print_stderr(
                f"warning: {path}: a file of this name was learned before, with other contents; "
                "rows that stand in both count twice"
            )


def _check_target(saved: ModelFile, target: str | None, limit: ClassLimit, model: str) -> None:
    """Another target than that of the model is a warning, and an error if it shares no label."""
    if None in (target, saved.target) or target == saved.target:
        return
    said = f"the target is {target!r}, but {model} has learned {saved.target!r}"
    if limit.is_all_new():
        raise SourceError(
            f"{said}, and no label is one of its classes: {listed(saved.model.classes.tolist())}"
        )
    print_stderr(f"warning: {said}; the classes of both are taken for the same")


def _warn_of_copies(files: dict[pathlib.Path, LearnedFile], limit: ClassLimit) -> None:
    """Say which of the files hold the same, so that their rows count twice."""
    first: dict[str, pathlib.Path] = {}
    for path, file in files.items():
        if path in limit.paths and first.setdefault(file.digest, path) != path:
            print_stderr(
                f"warning: {path}: holds the same as {first[file.digest]}; its rows count twice"
            )


def _note_plan(args: argparse.Namespace, source: RowSource) -> None:
    """What was decided about columns before a row is read."""
    for text in source.warnings:  # with --quiet too, as they may well be wrong
        print_stderr(f"warning: {text}")
    for text in source.notes:
        _note(args, text)
    if source.left_out:
        names = ", ".join(map(repr, source.left_out))
        _note(
            args,
            f"left out, not numeric: {names} (--categorical takes text; of dates make numbers)",
        )


def _limit(
    args: argparse.Namespace, target: str | None, priors: Any, known: np.ndarray | None = None
) -> ClassLimit:
    """How many classes there may be: as many as priors, where these are given."""
    n_priors = None if priors is None else len(priors)
    most = args.max_classes or MAX_CLASSES
    return ClassLimit(most, n_priors=n_priors, target=target, known=known)


def _note_rows(args: argparse.Namespace, model: Model, keys: list[str], watch: KeyWatch) -> None:
    """What the rows showed of columns: of those left out as `keys`, and of features."""
    for name in keys:
        print_stderr(
            f"warning: left out, since it identifies rows: {name!r}; --exclude it, or name it in "
            "--categorical to take it"
        )
    stats = model.stats
    others = np.flatnonzero(~stats.is_categorical) if model.member.takes_categories else None
    for text in finding_texts(model, watch.found(others)):
        _note(args, text)


def _check_components(source: RowSource, n_components: Any) -> None:
    """Raise SourceError for more axes than features."""
    if isinstance(n_components, int) and n_components > source.n_features:
        names = "" if source.features is None else f" ({listed(source.features)})"
        raise SourceError(
            f"--n-components: n_components={n_components} must be between 1 and "
            f"n_features={source.n_features}{names}"
        )


def _check_nulls(model: Model, args: argparse.Namespace) -> None:
    """Raise SourceError where rows without a prediction could not be written."""
    is_npy = pathlib.Path(args.output).suffix.lower() == ".npy"
    if args.on_error == "null" and is_npy and model.classes.dtype.kind != "f":
        raise SourceError(
            f"{args.output}: .npy cannot hold a null prediction; write Parquet, or leave such "
            "rows out with --on-error skip"
        )


def _left_out(bad: BadRows, source: RowSource) -> list[str]:
    """How many rows were left out, and why."""
    parts = []
    if source.n_dropped:
        parts.append(f"{counted(source.n_dropped, 'row')} left out (no label)")
    if bad.n:
        what = "predicted null" if bad.on_error == "null" else "left out"
        parts.append(f"{counted(bad.n, 'row')} {what} (missing or infinite values)")
    return parts


def _all_left_out(bad: BadRows, source: RowSource) -> str:
    return "".join(f"; {part}" for part in _left_out(bad, source))


def _finish(
    args: argparse.Namespace, command: str, parts: list[str], output: str | None, start: float
) -> None:
    """Say what was done, once all output is out."""
    if sys.stdout is not None:
        with prefix_stdout():
            sys.stdout.flush()
    if not args.quiet:
        print_done(command, parts, output, time.perf_counter() - start)
