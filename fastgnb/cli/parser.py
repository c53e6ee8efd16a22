"""The arguments of every command."""

from __future__ import annotations

import argparse
from typing import Any

from .._version import __version__
from ..files.outputs import OUTPUT_ENDINGS
from .argument_types import AddNames, names, output_file, positive
from .family_options import add_common_options, add_family_options

__all__ = ["build_parser"]

_AGAIN = "may be repeated; a name with a comma is quoted"

_DATA = "Parquet, CSV, Arrow IPC or .npy files, by ending; folders stand for the files in them"


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fastgnb",
        description="Gaussian naive Bayes and the rest of its family (discriminant analysis, "
        "principal axes, categories) over files of any size.",
        epilog="Memory does not grow with the number of rows: files of ten columns take less than "
        "256 MB beyond what Python and the libraries take.",
    )
    parser.add_argument("--version", action="version", version=f"fastgnb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (
        _add_fit, _add_update, _add_merge, _add_reestimate, _add_predict, _add_evaluate, _add_others
    ):  # fmt: skip
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
        type=names,
        action=AddNames,
        metavar="A,B",
        help="default: every numeric or boolean column, and the categorical ones (text columns "
        f"need --categorical); {_AGAIN}",
    )
    choice.add_argument(
        "--exclude", type=names, action=AddNames, default=(), metavar="A,B",
        help="columns that are no features, such as identifiers",
    )  # fmt: skip
    fit.add_argument("--weight", metavar="COL", help="column of row weights")
    add_common_options(fit, of_model=False)
    add_family_options(fit, "GaussianNB, or MixedNB with --categorical", of_data=True)
    _add_learning(fit)
    _add_reading(fit)


def _add_update(commands: Any) -> None:
    update = commands.add_parser("update", help="learn more rows into a saved model")
    _add_model_and_data(update)
    _add_target(update, required=False)
    update.add_argument("--weight", metavar="COL", help="column of row weights; default: as in fit")
    update.add_argument(
        "--model", dest="output", metavar="FILE", help="where the model goes; default: MODEL itself"
    )
    _add_learning(update)
    _add_reading(update)


def _add_merge(commands: Any) -> None:
    merge = commands.add_parser(
        "merge", help="join models trained apart, exactly",
        description="Join models trained apart, exactly. Features and classes are matched by name. "
        "Parameters are those of the models; where these differ, an option has to choose.",
    )  # fmt: skip
    merge.add_argument("first", metavar="MODEL")
    merge.add_argument("others", nargs="+", metavar="MODEL")
    merge.add_argument("--model", dest="output", required=True, metavar="FILE")
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
    reestimate.add_argument("--output", required=True, metavar="FILE", help="where the model goes")
    _add_parameters(reestimate)


def _add_parameters(parser: argparse.ArgumentParser) -> None:
    add_common_options(parser, of_model=True)
    add_family_options(parser, "as it is", of_data=False)
    parser.add_argument("--quiet", action="store_true", help="no line at the end")


def _add_predict(commands: Any) -> None:
    predict = commands.add_parser("predict", help="score files into a file")
    _add_model_and_data(predict)
    predict.add_argument(
        "--output", type=output_file, required=True, metavar="FILE", help=", ".join(OUTPUT_ENDINGS)
    )
    predict.add_argument("--proba", action="store_true", help="add a column proba_<class> each")
    predict.add_argument("--evidence", action="store_true", help="add log p(x) as log_evidence")
    predict.add_argument(
        "--keep", type=names, action=AddNames, default=(), metavar="A,B",
        help=f"input columns to copy, those of CSV as text; {_AGAIN}",
    )  # fmt: skip
    _add_on_error(predict, "null")
    _add_reading(predict)


def _add_evaluate(commands: Any) -> None:
    evaluate = commands.add_parser("evaluate", help="compare predictions with true labels")
    _add_model_and_data(evaluate)
    _add_target(evaluate, required=False)
    evaluate.add_argument(
        "--json", metavar="FILE", help="also write every number here; -: print this alone"
    )
    _add_null_target(evaluate)
    _add_on_error(evaluate)
    _add_reading(evaluate)


def _add_others(commands: Any) -> None:
    show = commands.add_parser("show", help="print what a model file holds")
    show.add_argument("model", metavar="MODEL", nargs="?")
    show.add_argument(
        "--json", nargs="?", const="-", metavar="FILE",
        help="everything, as JSON, into a file; without one or with -, print it",
    )  # fmt: skip
    demo = commands.add_parser("demo", help="generate data, train, score, compare")
    demo.add_argument("--rows", type=positive, default=1_000_000, metavar="N")
    demo.add_argument("--threads", type=positive, metavar="N")
    commands.add_parser("warmup", help="compile and cache every kernel")


def _add_model_and_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL")
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
