"""The `fastgnb` command: arguments, exit codes and one line for an error.

Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted. Only argparse is imported
until a command is known, so that `--help` is instant and `--threads` comes before Numba.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib
import io
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import __version__
from ._interrupt import arrow_without_signals, interruptible, listen_in_runs_only
from ._report import naming_stdout, say

__all__ = ["main", "process"]

_HOMES = {
    "fit": "_row_commands",
    "update": "_row_commands",
    "predict": "_row_commands",
    "evaluate": "_row_commands",
    "merge": "_model_commands",
    "show": "_model_commands",
    "warmup": "_model_commands",
    "demo": "demo",
}

_DATA = "Parquet, CSV, Arrow IPC or .npy files, by ending; folders stand for the files in them"


def process() -> int:
    """`main` for a process of its own, whose signals count while it runs and not afterwards."""
    listen_in_runs_only()
    return main()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: that of the process) and return its exit code."""
    try:
        with interruptible():
            code = _command(argv)
            if sys.stdout is not None:  # None where the shell closed it
                with naming_stdout():
                    sys.stdout.flush()  # now, while an error can still be told
            return code
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except BrokenPipeError:  # the reader of our output, as in `| head`, has what it wants
        _abandon_output()
        return 1
    except (ValueError, OSError, ImportError, NotImplementedError, MemoryError) as error:
        _abandon_output()
        say(f"error: {_one_line(error)}")
        return 1


def _command(argv: Sequence[str] | None) -> int:
    try:
        args = _parser().parse_args(argv)
    except SystemExit as exit_:  # argparse has printed its message
        return int(exit_.code or 0)
    return _run(args)


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "out of memory; fewer rows at a time, such as --batch-rows 1000, take less"
    return " ".join(str(error).split())


def _abandon_output() -> None:
    """What a standard output did not take would fail once more when Python ends."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _run(args: argparse.Namespace) -> int:
    with _threads(getattr(args, "threads", None)):
        home = importlib.import_module(f".{_HOMES[args.command]}", __package__)
        command: Callable[[argparse.Namespace], int] = getattr(home, args.command)
        with arrow_without_signals():
            return command(args)


@contextlib.contextmanager
def _threads(n: int | None) -> Iterator[None]:
    """Use n threads, of Numba and of Arrow; a caller in this process finds them as they were."""
    with contextlib.ExitStack() as after:
        if n is not None and "numba" in sys.modules:
            numba = sys.modules["numba"]
            after.callback(numba.set_num_threads, numba.get_num_threads())
            numba.set_num_threads(min(n, numba.config.NUMBA_NUM_THREADS))
        elif n is not None:  # Numba reads the number when it is imported, so tell it before
            os.environ["NUMBA_NUM_THREADS"] = str(n)
        if n is not None:
            with contextlib.suppress(ImportError):
                pyarrow = importlib.import_module("pyarrow")
                after.callback(pyarrow.set_cpu_count, pyarrow.cpu_count())
                pyarrow.set_cpu_count(n)
        yield


# ------------------------------------------------------------------ arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fastgnb",
        description="Gaussian naive Bayes over files of any size.",
        epilog="Memory does not grow with the number of rows: files of ten columns take less than "
        "256 MB beyond what Python and the libraries take.",
    )
    parser.add_argument("--version", action="version", version=f"fastgnb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_add_fit, _add_update, _add_merge, _add_predict, _add_evaluate, _add_others):
        add(commands)
    return parser


def _add_fit(commands: Any) -> None:
    fit = commands.add_parser("fit", help="train a model on files")
    fit.add_argument("data", nargs="+", metavar="DATA", help=_DATA)
    _add_target(fit)
    fit.add_argument("--model", required=True, metavar="FILE", help="where the model goes")
    choice = fit.add_mutually_exclusive_group()
    choice.add_argument(
        "--features",
        type=_names,
        action=_Extend,
        metavar="A,B",
        help="default: every numeric or boolean column, and the categorical ones; may be repeated",
    )
    choice.add_argument(
        "--exclude", type=_names, action=_Extend, default=(), metavar="A,B",
        help="columns that are no features; may be repeated",
    )  # fmt: skip
    fit.add_argument("--weight", metavar="COL", help="column of row weights")
    fit.add_argument("--missing", choices=["error", "skip"], default="error")
    fit.add_argument("--priors", type=_priors, metavar="P,P", help="in the order of the classes")
    fit.add_argument("--var-smoothing", type=_smoothing, metavar="F", help="default: the model's")
    _add_family(fit)
    _add_reading(fit)


def _add_family(fit: argparse.ArgumentParser) -> None:
    family = fit.add_argument_group("family", "which Gaussian Bayes classifier; see help(fastgnb)")
    family.add_argument(
        "--model-type", choices=["GaussianNB", "GaussianBayes", "PCAGaussianNB", "MixedNB"],
        help="default: GaussianNB, or MixedNB with --categorical",
    )  # fmt: skip
    family.add_argument("--covariance-type", choices=["spherical", "diag", "full"])
    family.add_argument("--tied", action="store_true", default=None, help="pool over classes")
    family.add_argument("--ddof", type=int, choices=[0, 1])
    family.add_argument("--reg-param", type=_number, metavar="F", help="of GaussianBayes")
    family.add_argument("--shrinkage", type=_shrinkage, metavar="F|oas", help="of GaussianBayes")
    family.add_argument("--n-components", type=_components, metavar="N|F", help="of PCAGaussianNB")
    family.add_argument("--rotation", choices=["total", "within", "class"], help="of PCAGaussianNB")
    family.add_argument(
        "--categorical", type=_categorical, action=_Extend, dest="categorical_features",
        metavar="A,B|auto",
        help="of MixedNB: features that hold categories (text, booleans, whole numbers); auto: "
        "every column of text, booleans or a dictionary type",
    )  # fmt: skip
    family.add_argument(
        "--alpha", type=_number, metavar="F", help="of MixedNB: smoothing of categories; default: 1"
    )
    family.add_argument(
        "--min-categories", type=_positive, metavar="N",
        help="of MixedNB: how many categories a feature has at least",
    )  # fmt: skip


def _add_update(commands: Any) -> None:
    update = commands.add_parser("update", help="learn more rows into a saved model")
    _add_model_and_data(update)
    _add_target(update, required=False)
    update.add_argument("--weight", metavar="COL", help="column of row weights; default: as in fit")
    update.add_argument(
        "--model", dest="output", metavar="FILE", help="where the model goes; default: MODEL itself"
    )
    _add_reading(update)


def _add_merge(commands: Any) -> None:
    merge = commands.add_parser("merge", help="join models trained apart, exactly")
    merge.add_argument("first", metavar="MODEL")
    merge.add_argument("others", nargs="+", metavar="MODEL")
    merge.add_argument("--model", dest="output", required=True, metavar="FILE")


def _add_predict(commands: Any) -> None:
    predict = commands.add_parser("predict", help="score files into a file")
    _add_model_and_data(predict)
    predict.add_argument(
        "--output", type=_output, required=True, metavar="FILE", help=", ".join(_OUTPUTS)
    )
    predict.add_argument("--proba", action="store_true", help="add a column proba_<class> each")
    predict.add_argument("--evidence", action="store_true", help="add log p(x) as log_evidence")
    predict.add_argument(
        "--keep", type=_names, action=_Extend, default=(), metavar="A,B",
        help="input columns to copy, those of CSV as text; may be repeated",
    )  # fmt: skip
    _add_reading(predict)


def _add_evaluate(commands: Any) -> None:
    evaluate = commands.add_parser("evaluate", help="compare predictions with true labels")
    _add_model_and_data(evaluate)
    _add_target(evaluate)
    evaluate.add_argument("--json", metavar="FILE", help="also write every number here")
    _add_reading(evaluate)


def _add_others(commands: Any) -> None:
    show = commands.add_parser("show", help="print what a model file holds")
    show.add_argument("model", metavar="MODEL")
    show.add_argument("--json", action="store_true", help="everything, as JSON")
    demo = commands.add_parser("demo", help="generate data, train, score, compare")
    demo.add_argument("--rows", type=_positive, default=1_000_000, metavar="N")
    demo.add_argument("--threads", type=_positive, metavar="N")
    commands.add_parser("warmup", help="compile and cache every kernel")


def _add_model_and_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("data", nargs="+", metavar="DATA", help=_DATA)


def _add_target(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    target = parser.add_mutually_exclusive_group(required=required)
    default = "" if required else "; default: as in fit"
    target.add_argument("--target", metavar="COL", help=f"column of labels{default}")
    target.add_argument("--target-npy", metavar="FILE", help="labels (n,) of .npy data")


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--batch-rows", type=_positive, metavar="N", help="most rows in memory")
    parser.add_argument("--threads", type=_positive, metavar="N", help="default: every core")
    parser.add_argument("--quiet", action="store_true", help="no progress bar, no notes")


class _Extend(argparse.Action):
    """Names of an option that is given more than once are those of all times together."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest)
        if before and "auto" in (before, values):
            parser.error(f"argument {option_string}: 'auto' cannot be combined with names")
        kind = type(values)
        setattr(namespace, self.dest, kind([*before, *values]) if before else values)


_OUTPUTS = (".parquet", ".csv", ".arrow", ".feather", ".ipc", ".npy")


def _output(text: str) -> str:
    if os.path.splitext(text)[1].lower() not in _OUTPUTS:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in one of {', '.join(_OUTPUTS)}")
    return text


def _names(text: str) -> tuple[str, ...]:
    """Names as a line of CSV, so that one with a comma can be quoted."""
    try:
        (names,) = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (ValueError, csv.Error):
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a list of names such as A,B or "a, b",C'
        ) from None
    return tuple(names)


def _categorical(text: str) -> str | list[str]:
    return text if text == "auto" else list(_names(text))


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 1 or more")
    return int(text)


def _smoothing(text: str) -> float:
    value = _number(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number, 0 or more")
    return value


def _priors(text: str) -> tuple[float, ...]:
    priors = tuple(_number(part) for part in text.split(","))
    if min(priors) < 0 or not math.isclose(math.fsum(priors), 1.0, rel_tol=1e-8):
        raise argparse.ArgumentTypeError(f"{text!r}: expected numbers, 0 or more, that sum to 1")
    return priors


def _shrinkage(text: str) -> str | float:
    return text if text == "oas" else _number(text)


def _components(text: str) -> int | float:
    return int(text) if text.isdecimal() else _number(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
