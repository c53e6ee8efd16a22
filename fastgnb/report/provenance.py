"""Where the numbers come from: files, columns, rows that were left out, versions, options."""

from __future__ import annotations

import datetime
import platform
from importlib.metadata import version

from .._version import __version__
from ..files.jobs.assess_files import Assessed
from .markup import Markup, tag
from .parameters import facts, feature_names
from .tables import Table, render
from .wording import bytes_text, first_of, number, short

__all__ = ["provenance_section"]

FILES = 100
"""Most files that are listed."""

NAMES = 40
"""Most names of features in a list."""


def provenance_section(assessed: Assessed, date: datetime.datetime) -> Markup:
    """Facts, and a table of the files."""
    return Markup(
        tag("div", facts(_facts(assessed, date)), class_="card")
        + tag("div", render(_file_table(assessed), "files"), class_="card")
    )


def _facts(assessed: Assessed, date: datetime.datetime) -> list[tuple[str, str]]:
    counts, model = assessed.counts, assessed.saved.model
    left_out = [
        text
        for n, text in (
            (counts.n_null_labels, f"{number(counts.n_null_labels)} without a label"),
            (counts.n_bad_rows, f"{number(counts.n_bad_rows)} with missing or infinite values"),
        )
        if n
    ]
    unseen = assessed.evaluation.n_unseen
    return [
        ("Date", date.strftime("%Y-%m-%d %H:%M %Z").strip()),
        ("Model file", short(assessed.name)),
        ("Rows compared", number(counts.n_rows)),
        ("Rows left out", ", ".join(left_out) or "none"),
        ("Rows of unknown labels", number(unseen) if unseen else "none"),
        ("Column of labels", short(assessed.target)),
        ("Column of weights", "none" if assessed.weight is None else short(assessed.weight)),
        ("Features", first_of(feature_names(model), NAMES)),
        ("Computed by", _versions()),
    ]


def _versions() -> str:
    """What has computed and drawn the page."""
    packages = [
        f"{name} {version(name)}" for name in ("numpy", "numba", "scikit-learn", "matplotlib")
    ]
    return ", ".join([f"fastgnb {__version__}", *packages, f"Python {platform.python_version()}"])


def _file_table(assessed: Assessed) -> Table:
    files = assessed.files
    rows = [
        [
            short(file.name), file.n_rows, bytes_text(file.size), _when(file.modified),
            "yes" if file.was_learned else "no",
        ]
        for file in files[:FILES]
    ]  # fmt: skip
    note = "" if len(files) <= FILES else f"The first {FILES} of {len(files):,}"
    head = ("File", "Rows read", "Size", "Modified", "Learned by the model")
    return Table("Files of rows", head, rows, note, len(files) > 10)


def _when(seconds: float) -> str:
    """A time in UTC, so that a page does not depend on where it is made."""
    when = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return when.strftime("%Y-%m-%d %H:%M UTC")
