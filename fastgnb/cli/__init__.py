"""The `fastgnb` command: arguments, messages and exit codes.

In: an argument list. Out: an exit code, one line on standard error that says what was done, and the
report that was asked for on standard output. The work is done by `files`, and is the same from
Python. Options of members are made from the registry, see `model`.

Where to start
    entry.py             `main` for calls from Python, `process` for the command itself
    parser.py            the arguments of every command; argument_types.py: what words stand for
    family_options.py    options of members as arguments, made from the registry
    file_arguments.py    how files are read: formats, dialects of CSV, conditions
    options.py           options of the command line as options of a member
    row_commands.py      fit, update, predict, evaluate, diagnose, report
    model_commands.py    merge, reestimate, show, warmup
    texts.py             evaluations and models as text; diagnosis_text.py: diagnoses
    summary.py           notes, warnings, and the line that a command ends with
    streams.py           text to standard output and standard error, whatever these are
    standard_streams.py  rows from standard input, and results to standard output
    demo.py, warmup.py   `fastgnb demo`, and the progress of compiling
    demo_page.py         what it measured as a page of benchmarks

May import: every room.
"""

from .entry import main, process

__all__ = ["main", "process"]
