"""A report on a model: one HTML page on how good it is, and on whether its assumptions hold.

In: a model and files of rows, which are read twice. Out: a file that holds its style, its script
and its plots, fetches nothing, and takes at most 2 MB. The page is readable without its script,
which moves a cut-off and sorts and filters tables. Names in the data are untrusted, and reach the
page through `tag` only, which escapes them.

Where to start
    write.py       the public function
    sections.py    the sections, in their order; page.py: the document around them
    summary.py     the sentence, the figures and the findings that come first
    mistakes.py    which classes are confused; cutoffs.py: rates at a movable cut-off
    assumptions.py normality and independence within classes
    pictures.py    which displays of `plot` each section has; charts.py: a display as a card with
                   its table; svg.py: its picture made to fit
    parameters.py  the model in tables
    provenance.py  files, columns, rows left out, versions
    tables.py      tables of bounded size
    markup.py      HTML from Python values; wording.py: names and numbers as text
    assets/        style and script of the page

May import: every room but `cli`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._system.lazy import lazy_names

_HOMES = {"write_report": "write"}

__all__ = ["write_report"]

if TYPE_CHECKING:
    from .write import write_report

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
