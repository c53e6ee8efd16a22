"""How the files of a job are read: what names of files and their content do not tell."""

from __future__ import annotations

import dataclasses
from typing import Any

from .csv_dialect import CsvDialect
from .formats import FORMATS

__all__ = ["FileOptions"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How files are read.

    format : one of `FORMATS`, where the endings of names do not tell. csv : how CSV is written, or
    its fields as a dict. where : a condition that rows have to meet, see `where_text`.
    output_format : one of `FORMATS`, of the file that is written.
    """

    format: str | None = None
    csv: CsvDialect | dict[str, Any] | None = None
    where: str | None = None
    output_format: str | None = None

    def __post_init__(self) -> None:
        given = {"file_format": self.format, "output_format": self.output_format}
        for name, value in given.items():
            if value is not None and value not in FORMATS:
                raise ValueError(f"{name} must be one of {list(FORMATS)}, got {value!r}.")
        if not isinstance(self.csv, CsvDialect | dict | None):
            raise TypeError(f"csv must be a CsvDialect or a dict of its fields, got {self.csv!r}.")
        if isinstance(self.csv, dict):
            CsvDialect(**self.csv)  # raises for wrong fields, also where no file is CSV
        if self.where is not None and not isinstance(self.where, str):
            raise TypeError(f"where must be a text such as 'year >= 2026', got {self.where!r}.")

    @property
    def dialect(self) -> CsvDialect:
        """How CSV is written."""
        if isinstance(self.csv, dict):
            return CsvDialect(**self.csv)
        return self.csv or CsvDialect()
