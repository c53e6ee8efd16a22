"""Rows of a local Arrow file, whose numbers are read when they are needed: see `arrow_map`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..._system.optional import pa
from .arrow_map import ArrowMap, Numbers
from .cutting import Pieces

__all__ = ["MappedPart", "MappedPieces"]


class MappedPart:
    """Rows of a record batch, from `first` on. `numbers` says where columns are in the file."""

    def __init__(
        self, batch: pa.RecordBatch, numbers: Mapping[str, Numbers], first: int = 0
    ) -> None:
        self.batch, self.numbers, self.first = batch, numbers, first
        self.num_rows = batch.num_rows

    def slice(self, start: int, length: int | None = None) -> MappedPart:
        """Some of the rows."""
        return MappedPart(self.batch.slice(start, length), self.numbers, self.first + start)


class MappedPieces(Pieces):
    """A batch of rows of a map."""

    is_read_late = True

    def __init__(self, parts: Sequence[MappedPart], source: ArrowMap) -> None:
        super().__init__([part.batch for part in parts])
        self._mapped, self._source = parts, source

    @classmethod
    def in_memory(cls, parts: Sequence[MappedPart], source: ArrowMap) -> MappedPart:
        """All the rows as one part, of which nothing is left to be read."""
        return MappedPart(cls(parts, source).joined(), {})

    @property
    def parts(self) -> Sequence[pa.RecordBatch]:
        names = self._mapped[0].batch.schema.names
        chunks = [self.chunks(name) for name in names]
        return [pa.RecordBatch.from_arrays(list(part), names) for part in zip(*chunks, strict=True)]

    def chunks(self, name: str) -> list[pa.Array]:
        return [self._chunk(part, name) for part in self._mapped]

    def _chunk(self, part: MappedPart, name: str) -> pa.Array:
        numbers = part.numbers.get(name)
        if numbers is None:  # it is in memory
            return part.batch.column(name)
        row = np.empty((1, part.num_rows), numbers.dtype)
        self._source.read([numbers], part.first, row)
        if numbers.validity is None:
            return pa.array(row[0])
        mask = np.zeros(part.num_rows, np.bool_)
        mask[self._source.nulls([numbers], part.first, part.num_rows)[0]] = True
        return pa.array(row[0], mask=mask)

    def read_into(self, rows: np.ndarray, names: Sequence[str]) -> list[str]:
        at = [j for j, name in enumerate(names) if all(name in p.numbers for p in self._mapped)]
        start = 0
        for part in self._mapped:
            stop = start + part.num_rows
            self._read_part(part, [names[j] for j in at], at, rows[:, start:stop])
            start = stop
        done = set(at)
        return [name for j, name in enumerate(names) if j not in done]

    def _read_part(
        self, part: MappedPart, names: Sequence[str], at: Sequence[int], rows: np.ndarray
    ) -> None:
        """Read columns into the rows `at`."""
        places = dict(zip(at, (part.numbers[name] for name in names), strict=True))
        for dtype in dict.fromkeys(place.dtype for place in places.values()):
            alike = [j for j, place in places.items() if place.dtype == dtype]
            if dtype == rows.dtype:
                for span in _consecutive(alike):
                    block = rows[span.start : span.stop]
                    self._source.read([places[j] for j in span], part.first, block)
                continue
            values = self._source.scratch((len(alike), part.num_rows), dtype)
            self._source.read([places[j] for j in alike], part.first, values)
            with np.errstate(over="ignore", invalid="ignore"):  # of what stands below a null
                rows[alike] = values
        nulls = self._source.nulls(list(places.values()), part.first, part.num_rows)
        for j, null in zip(at, nulls, strict=True):
            if null.size:
                rows[j, null] = np.nan


def _consecutive(at: Sequence[int]) -> list[range]:
    """Ascending numbers as ranges."""
    ranges: list[range] = []
    for j in at:
        if ranges and ranges[-1].stop == j:
            ranges[-1] = range(ranges[-1].start, j + 1)
        else:
            ranges.append(range(j, j + 1))
    return ranges
