"""A sum of the statistics of many batches."""

from __future__ import annotations

from typing import Any

from ...stats.category_counts import check_few_categories
from ...stats.class_stats import ClassStats
from ...stats.mixed_stats import MixedStats
from .auto_columns import AutoColumns

__all__ = ["Total"]

_FEW = 1000
"""Classes whose statistics are added at any time."""


class Total:
    """A sum of many statistics that grow with what is in them, in linear time.

    Categories and classes of a stream may be new for ever, so that a sum batch by batch would
    handle all those before with each. Here a part is added to one of as many batches, as bits carry
    in a counter. A part that has about the classes of all before is added to them at once, since
    log2(n) sums of the same size would take their memory.
    """

    def __init__(self, max_categories: int | None, auto: AutoColumns | None) -> None:
        self._flat: Any = None
        self._parts: list[tuple[int, Any]] = []
        self._most, self._auto = max_categories, auto

    def add(self, part: Any) -> None:
        """Add the statistics of a batch. Raises ValueError where categories are too many."""
        if not isinstance(part, MixedStats) and self._is_like(part):
            self._flat = part if self._flat is None else self._flat + part
            return
        part, n = self._bounded(part), 1
        while self._parts and self._parts[-1][0] == n:
            part, n = self._sum(self._parts.pop()[1], part), 2 * n
        self._parts.append((n, part))

    def result(self, before: Any = None) -> Any:
        """The sum, with statistics from before; None of nothing."""
        total = None
        for part in (*(part for _, part in reversed(self._parts)), self._flat):
            if part is not None:
                total = part if total is None else self._sum(part, total)
        if total is not None and self._auto is not None:
            total = self._reduced(total)
            self._auto.decide(total)
        if total is None or before is None:
            return before if total is None else self._bounded(total)
        return self._sum(before, total)

    def _is_like(self, part: ClassStats) -> bool:
        """Whether to add it at once takes time in proportion to the part."""
        k = 0 if self._flat is None else len(self._flat.classes)
        return k <= max(_FEW, 2 * len(part.classes)) or part.covariance is not None

    def _sum(self, a: Any, b: Any) -> Any:
        return self._bounded(self._reduced(a) + self._reduced(b))

    def _reduced(self, part: Any) -> Any:
        return part if self._auto is None else self._auto.without(part)

    def _bounded(self, stats: Any) -> Any:
        """The statistics, without what `auto` leaves out. Raises ValueError beyond the bound."""
        if not isinstance(stats, MixedStats):
            return stats
        if self._auto is not None:
            self._auto.bound(stats)
            stats = self._auto.without(stats)
        check_few_categories(stats, self._most)
        return stats
