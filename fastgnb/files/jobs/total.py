"""A sum of the statistics of batches or of files, without columns that turn out to be keys."""

from __future__ import annotations

from typing import Any

from ...stats.category_counts import check_few_categories
from ...stats.mixed_stats import MixedStats
from ...stats.tree import MergeTree
from .auto_columns import AutoColumns

__all__ = ["Total"]


class Total:
    """A sum of many statistics by the tree of `fastgnb.merge`, in linear time.

    Categories and classes of a stream may be new for ever, so that a sum batch by batch would
    handle all those before with each; the tree handles each part log2(n) times at most.
    max_categories : most categories of a feature, or None. auto : leaves columns out.
    """

    def __init__(self, max_categories: int | None, auto: AutoColumns | None = None) -> None:
        self._tree: MergeTree[Any] = MergeTree(self.sum)
        self._most, self._auto = max_categories, auto

    def __len__(self) -> int:
        """Number of parts so far, those without rows included."""
        return len(self._tree)

    def add(self, part: Any) -> None:
        """Add the statistics of the next part, None without rows. Raises ValueError where
        categories are too many."""
        self._tree.add(None if part is None else self._bounded(part))

    def result(self) -> Any:
        """The sum; None of nothing."""
        total = self._tree.result()
        return None if total is None else self._reduced(total)

    def sum(self, a: Any, b: Any) -> Any:
        """The sum of two statistics. Raises ValueError where categories are too many."""
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
