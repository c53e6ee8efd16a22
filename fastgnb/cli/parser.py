"""The arguments of every command."""

from __future__ import annotations

import argparse
from typing import Any

from .._version import __version__
from ..files.outputs import OUTPUT_ENDINGS
from ..files.tables.formats import FORMATS
from .argument_types import AddNames, cut_offs, names, positive, shard
from .family_options import add_common_options, add_family_options
from .file_arguments import add_file_arguments

__all__ = ["build_parser"]

_AGAIN = "may be repeated; a name with a comma is quoted"

_MODEL = "where the model goes; -: standard output"

_DATA = (
    "Parquet, CSV, Arrow IPC or .npy files, by ending; folders stand for the files in them, and "
    "quoted patterns such as 'data/*.csv' for those that match; a path may have a scheme, such as "
    "s3://bucket/key; -: standard input"
)


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of one command, which is all that a call needs, or of every command."""
    parser = argparse.ArgumentParser(
        prog="fastgnb",
        description="Gaussian naive Bayes and the rest of its family (discriminant analysis, "
        "principal axes, categories) over files of any size.",
        epilog="Memory does not grow with the number of rows: files of ten columns take less than "
        "256 MB beyond what Python and the libraries take.",
    )
    parser.add_argument("--version", action="version", version=f"fastgnb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, add in _COMMANDS.items():
        if command == name or command not in _COMMANDS:
            add(commands)
    return parser


def _add_fit(commands: Any) -> None:
    fit = commands.add_parser(
        "fit", help="train a model on files",
        description="Train a model on files. Rows are read in batches, so that memory does not "
        "grow with their number.",
    )  # fmt: skip
    fit.add_argument("data", nargs="+", metavar="DATA", help=_DATA)
    _add_target(fit)
    fit.add_argument("--model", required=True, metavar="FILE", help=_MODEL)
    choice = fit.add_mutually_exclusive_group()
    choice.add_argument(
        "--features",
        type=names,
        action=AddNames,
        metavar="A,B",
        help="default: every numeric or boolean column, and the categorical ones (text columns "
        f"need --categorical); {_AGAIN}",
    )
    choice.add_argument(
        "--exclude", type=names, action=AddNames, default=(), metavar="A,B",
        help="columns that are not features, such as identifiers",
    )  # fmt: skip
    fit.add_argument("--weight", metavar="COL", help="column of row weights")
    add_common_options(fit, of_model=False)
    add_family_options(fit, "GaussianNB, or MixedNB with --categorical", of_data=True)
    _add_learning(fit)
    _add_checkpoint(fit)
    _add_reading(fit)


def _add_checkpoint(fit: argparse.ArgumentParser) -> None:
    fit.add_argument(
        "--checkpoint", metavar="DIR",
        help="a folder that keeps what is learned of each file; a run after a crash goes on there",
    )  # fmt: skip
    fit.add_argument(
        "--shard", type=shard, metavar="I/N",
        help="learn only every N-th file, from the I-th on, for --checkpoint, and write no model; "
        "when all shards are done, the same command without --shard writes it",
    )  # fmt: skip
    fit.add_argument(
        "--workers", type=positive, metavar="N", help="processes that learn files for --checkpoint"
    )


def _add_update(commands: Any) -> None:
    update = commands.add_parser(
        "update", help="learn more rows into a saved model",
        description="Learn more rows into a saved model, as if it had learned all rows at once.",
    )  # fmt: skip
    _add_model_and_data(update)
    _add_target(update, required=False)
    update.add_argument("--weight", metavar="COL", help="column of row weights; default: as in fit")
    update.add_argument(
        "--model", dest="output", metavar="FILE", help=f"{_MODEL}; default: MODEL itself"
    )
    _add_learning(update)
    _add_reading(update)


def _add_merge(commands: Any) -> None:
    merge = commands.add_parser(
        "merge", help="join models trained separately, exactly",
        description="Join models trained separately, exactly. Features and classes are matched by "
        "name. Parameters are those of the models; where these differ, an option has to choose.",
    )  # fmt: skip
    merge.add_argument("first", metavar="MODEL")
    merge.add_argument("others", nargs="+", metavar="MODEL")
    merge.add_argument("--model", dest="output", required=True, metavar="FILE", help=_MODEL)
    _add_again(merge, "merge models that have learned the same files,")
    _add_parameters(merge)


def _add_reestimate(commands: Any) -> None:
    reestimate = commands.add_parser(
        "reestimate", help="change a model's parameters, without its rows",
        description="Estimate a model of the same statistics with other parameters, or another "
        "member of the family: of full scatter GaussianBayes, PCAGaussianNB or GaussianNB. What is "
        "not given stays as it is; of another member it is the default.",
    )  # fmt: skip
    reestimate.add_argument("model", metavar="MODEL")
    reestimate.add_argument("--output", required=True, metavar="FILE", help=_MODEL)
    _add_parameters(reestimate)


def _add_parameters(parser: argparse.ArgumentParser) -> None:
    add_common_options(parser, of_model=True)
    add_family_options(parser, "as it is", of_data=False)
    parser.add_argument("--quiet", action="store_true", help="no line at the end")


def _add_predict(commands: Any) -> None:
    predict = commands.add_parser(
        "predict", help="score files, and write the results to a file",
        description="Score files, and write the label of each row to a file, and its probabilities "
        "if they are asked for.",
    )  # fmt: skip
    _add_model_and_data(predict)
    predict.add_argument(
        "--output", required=True, metavar="FILE",
        help=f"{', '.join(OUTPUT_ENDINGS)}; CSV also as .csv.gz and so on; -: standard output; or "
        "a folder, with a slash at its end: a file for each of DATA, and a rerun skips those that "
        "are finished",
    )  # fmt: skip
    predict.add_argument(
        "--output-format", choices=FORMATS, help="where the ending of FILE does not tell"
    )
    predict.add_argument(
        "--proba", action="store_true", help="add a column proba_<class> for each class"
    )
    predict.add_argument("--evidence", action="store_true", help="add log p(x) as log_evidence")
    predict.add_argument(
        "--keep", type=names, action=AddNames, default=(), metavar="A,B",
        help=f"input columns to copy, those of CSV as text; {_AGAIN}",
    )  # fmt: skip
    _add_on_error(predict, "null")
    predict.add_argument(
        "--workers", type=positive, metavar="N", help="processes that score files into a folder"
    )
    _add_reading(predict)


def _add_evaluate(commands: Any) -> None:
    evaluate = commands.add_parser(
        "evaluate", help="compare predictions with true labels",
        description="Compare predictions with true labels: accuracy, confusion matrix, log loss, "
        "calibration, rates and areas of each class. Rows should not be those the model learned.",
    )  # fmt: skip
    _add_labelled_rows(evaluate)
    _add_json(evaluate)
    evaluate.add_argument(
        "--thresholds", type=cut_offs, metavar="A,B",
        help="cut-offs of the probability, above 0 and below 1: rates at each, counted exactly",
    )  # fmt: skip


def _add_diagnose(commands: Any) -> None:
    diagnose = commands.add_parser(
        "diagnose", help="check whether the assumptions of a model hold",
        description="Check whether features are normal and independent within classes, and whether "
        "another member of the family predicts better. Reads the data twice.",
    )  # fmt: skip
    _add_labelled_rows(diagnose)
    _add_json(diagnose)


def _add_report(commands: Any) -> None:
    report = commands.add_parser(
        "report", help="write a page on how good a model is",
        description="Compare predictions with true labels, check what the model assumes, and write "
        "one HTML page with numbers, plots and tables, of at most 2 MB. It fetches nothing.",
    )  # fmt: skip
    _add_labelled_rows(report)
    report.add_argument(
        "--output", required=True, metavar="FILE", help="where the page goes; -: standard output"
    )
    report.add_argument("--title", metavar="TEXT", help="heading; default: model and target")


def _add_show(commands: Any) -> None:
    show = commands.add_parser(
        "show", help="print what a model file holds",
        description="Print what a model file holds: its classes, features, options and parameters.",
    )  # fmt: skip
    show.add_argument("model", metavar="MODEL", nargs="?")
    show.add_argument(
        "--json", nargs="?", const="-", metavar="FILE",
        help="everything, as JSON, into a file; without one or with -, print it",
    )  # fmt: skip


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo", help="generate data, train, score, compare",
        description="Generate data, train and score a model, and compare times and results with "
        "those of scikit-learn.",
    )  # fmt: skip
    demo.add_argument(
        "--rows", type=positive, default=1_000_000, metavar="N", help="default: 1000000"
    )
    demo.add_argument("--threads", type=positive, metavar="N")
    demo.add_argument("--html", metavar="FILE", help="also write the results as an HTML page")


def _add_warmup(commands: Any) -> None:
    commands.add_parser(
        "warmup", help="compile and cache every kernel",
        description="Compile every kernel and keep it in the cache, so that no later call waits.",
    )  # fmt: skip


_COMMANDS = {
    "fit": _add_fit,
    "update": _add_update,
    "merge": _add_merge,
    "reestimate": _add_reestimate,
    "predict": _add_predict,
    "evaluate": _add_evaluate,
    "diagnose": _add_diagnose,
    "report": _add_report,
    "show": _add_show,
    "demo": _add_demo,
    "warmup": _add_warmup,
}


def _add_labelled_rows(parser: argparse.ArgumentParser) -> None:
    """A model, and rows with their labels and weights."""
    _add_model_and_data(parser)
    _add_target(parser, required=False)
    parser.add_argument(
        "--weight", metavar="COL", help="column of row weights; default: each row counts 1"
    )
    _add_null_target(parser)
    _add_on_error(parser)
    _add_reading(parser)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", metavar="FILE", help="also write every number as JSON; -: print only this"
    )


def _add_model_and_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model file, as written by fit")
    parser.add_argument("data", nargs="+", metavar="DATA", help=_DATA)


def _add_target(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    target = parser.add_mutually_exclusive_group(required=required)
    default = "" if required else "; default: as in fit"
    target.add_argument("--target", metavar="COL", help=f"column of labels{default}")
    target.add_argument("--target-npy", metavar="FILE", help="labels (n,) of .npy data")


def _add_again(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--again", action="store_true", help=f"{what} though it counts rows twice")


def _add_learning(parser: argparse.ArgumentParser) -> None:
    _add_again(parser, "learn files that the model has learned before,")
    parser.add_argument(
        "--max-classes", type=positive, metavar="N",
        help="most distinct labels; more are an error at once; default: 10000",
    )  # fmt: skip
    _add_null_target(parser)
    _add_on_error(parser)


def _add_null_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--drop-null-target", action="store_true",
        help="leave out rows without a label (null, NaN, an empty field of CSV), and count them",
    )  # fmt: skip


def _add_on_error(parser: argparse.ArgumentParser, *more: str) -> None:
    null = "; null: write nulls for them" if more else ""
    parser.add_argument(
        "--on-error", choices=["fail", *more, "skip"], default="fail",
        help="what to do with rows of values that the model cannot take (infinities, missing "
        f"values): fail is the default; skip: leave them out, and count them{null}",
    )  # fmt: skip


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--batch-rows", type=positive, metavar="N", help="most rows in memory")
    parser.add_argument("--threads", type=positive, metavar="N", help="default: every core")
    parser.add_argument("--quiet", action="store_true", help="no progress bar, no notes")
    add_file_arguments(parser)
