"""The `fastgnb` command: arguments, exit codes and one line for an error.

Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted. Only argparse is imported
until a command is known, so that `--help` is instant.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence

from .._numba.notice import quietly
from .._system import thread_limits
from .._system.signals import arrow_without_signals, interruptible, listen_in_runs_only
from ..files.outputs import is_folder
from ..files.tables.formats import output_format
from .parser import build_parser
from .standard_streams import standard_streams
from .streams import prefix_stdout, print_stderr

__all__ = ["main", "process"]

_HOMES = {
    "fit": "row_commands",
    "update": "row_commands",
    "predict": "row_commands",
    "evaluate": "row_commands",
    "diagnose": "row_commands",
    "report": "row_commands",
    "merge": "model_commands",
    "reestimate": "model_commands",
    "show": "model_commands",
    "warmup": "model_commands",
    "demo": "demo",
}

_FEW_ROWS = 1000
"""Rows at a time that are advised where memory is short."""


def process() -> int:
    """`main` for a process of its own, whose signals count while it runs and not afterwards."""
    listen_in_runs_only()
    code = main()
    _abandon_output()
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: that of the process) and return its exit code.

    Threads of a service may call it, several at once. Signal handlers, environment, standard
    streams and the sizes of thread pools are afterwards as they were.
    """
    try:
        with interruptible():
            code = _command(argv)
            if sys.stdout is not None:  # None where the shell closed it
                with prefix_stdout():
                    sys.stdout.flush()  # now, while an error can still be told
            return code
    except KeyboardInterrupt:
        # Python notes a KeyboardInterrupt that came out of `eval` of a text, and at its end dies by
        # the signal whatever the exit code. Numba evaluates texts. The next `eval` clears the note.
        eval("None")
        print_stderr("interrupted")
        return 130
    except BrokenPipeError:  # the reader of our output, as in `| head`, has what it wants
        return 1
    except (ValueError, OSError, ImportError, NotImplementedError, MemoryError) as error:
        print_stderr(f"error: {_one_line(error)}")
        return 1


def _command(argv: Sequence[str] | None) -> int:
    try:
        args = _parse(argv)
    except SystemExit as exit_:  # argparse has printed its message
        return int(exit_.code or 0)
    return _run(args)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments. `show --json MODEL` prints the model, though --json may have a FILE."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = build_parser(next((word for word in words if not word.startswith("-")), None))
    args = parser.parse_args(words)
    if args.command == "predict":
        _check_ending(parser, args)
    if args.command == "fit":
        _check_checkpoint(parser, args)
    if args.command == "demo" and args.html == "-":
        parser.error("demo: argument --html: expected a file; standard output has the table")
    if args.command == "show" and args.model is None:
        if args.json in (None, "-"):
            parser.error("show: the following arguments are required: MODEL")
        args.model, args.json = args.json, "-"
    return args


def _check_ending(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """A wrong usage unless the name of the output or --output-format tells its format."""
    if args.output == "-" or is_folder(args.output):
        return
    try:
        output_format(args.output, args.output_format)
    except ValueError as error:
        parser.error(f"predict: argument --output: {error}")


def _check_checkpoint(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """A wrong usage where files are to be shared without a folder for what is learned of them."""
    for option, value in (("--shard", args.shard), ("--workers", args.workers)):
        if value is not None and args.checkpoint is None:
            parser.error(
                f"fit: argument {option}: needs --checkpoint, a folder that the processes share"
            )


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    return " ".join(str(error).split())


def _out_of_memory(args: argparse.Namespace) -> str:
    """What helps, where something does: rows at a time, unless they are few already."""
    rows = getattr(args, "batch_rows", 0)
    if rows == 0 or (rows is not None and rows <= _FEW_ROWS):
        return "out of memory; that of a model grows with its classes times its features"
    return (
        f"out of memory; fewer rows at a time, such as --batch-rows {_FEW_ROWS}, take less; what "
        "the model itself takes grows with its classes times its features"
    )


def _abandon_output() -> None:
    """What a standard output did not take would fail once more when Python ends.

    Only for a process that ends: in a service the stream belongs to others.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _run(args: argparse.Namespace) -> int:
    quiet = quietly(getattr(args, "quiet", False))
    with thread_limits.threads(getattr(args, "threads", None)), quiet:
        home = importlib.import_module(f".{_HOMES[args.command]}", __package__)
        command: Callable[[argparse.Namespace], int] = getattr(home, args.command)
        with arrow_without_signals(), standard_streams(args):
            try:
                return command(args)
            except MemoryError as error:
                raise MemoryError(_out_of_memory(args)) from error
