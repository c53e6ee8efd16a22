"""A row of a table in SQL: its columns, which of their values can be scored, and its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .sql_dialects import Dialect
from .sql_scores import category_term, in_brackets, limits, score
from .terms import Terms

__all__ = ["SqlRow", "distinct"]


@dataclass(frozen=True)
class SqlRow:
    """The row of a model's features in a database.

    columns : the quoted column of each of the d features.
    """

    terms: Terms
    sql: Dialect
    columns: Sequence[str]

    @property
    def features(self) -> list[str]:
        """Continuous features as float64; with `skip`, NULL in the place of NaN."""
        real = [self.sql.real(self.columns[j]) for j in self.terms.continuous]
        return [self.sql.not_nan(each) for each in real] if self.terms.skip else real

    @property
    def categories(self) -> list[str]:
        """The value of each categorical feature, NULL in the place of NaN."""
        return [
            self.sql.category(self.columns[each.feature], each.categories.dtype.kind)
            for each in self.terms.categorical
        ]

    def in_range(self) -> list[str]:
        """A condition for each continuous feature: false or NULL where it cannot be scored."""
        low, high = (each.tolist() for each in limits(self.terms))
        out = []
        for j, least, most in zip(self.terms.continuous, low, high, strict=True):
            column = self.columns[j]
            bounds = f"{self.sql.number(least)} AND {self.sql.number(most)}"
            within = f"{self.sql.real(column)} BETWEEN {bounds}"
            kind = self.sql.is_number(column)
            out.append(f"{kind} AND {within}" if kind else within)
        return out

    def of_kind(self) -> list[str]:
        """A condition for each categorical feature, as `in_range`."""
        out = []
        for each, value in zip(self.terms.categorical, self.categories, strict=True):
            column = self.columns[each.feature]
            kind = self.sql.is_text(column) if each.is_text else self.sql.is_number(column)
            kind = f"{kind} AND " if kind and len(each.categories) else ""
            out.append(f"{kind}{value} IS NOT NULL")
        return out

    def usable(self) -> str:
        """The condition that the row can be scored."""
        values = [*self.features, *self.categories]
        conditions = [*self.in_range(), *self.of_kind()]
        if self.terms.skip:
            conditions = [
                f"({condition} OR {value} IS NULL)"
                for condition, value in zip(conditions, values, strict=True)
            ]
        return in_brackets(conditions, "\n    AND ")

    def scores(
        self, features: Sequence[str], bases: Sequence[Sequence[str]], categories: Sequence[str]
    ) -> list[str]:
        """The score of each class that can win, of values given as expressions."""
        out = []
        for i, c in enumerate(self.terms.possible.tolist()):
            values = bases[i if len(bases) > 1 else 0] if bases else features
            logs = [
                category_term(each, each.limit[c], value, self.sql, skip=self.terms.skip)
                for each, value in zip(self.terms.categorical, categories, strict=True)
            ]
            out.append(score(self.terms, c, values, logs, self.sql))
        return out

    def label(self, scores: Sequence[str], best: str, usable: str) -> str:
        """The first class whose score is the best, or NULL where the row is not usable."""
        classes = self.terms.classes.tolist()
        labels = [self.sql.label(classes[c]) for c in self.terms.possible]
        chosen = labels[0] if len(labels) == 1 else self.sql.first(best, scores, labels)
        return self.sql.typed(f"CASE WHEN {usable}\n  THEN {chosen} END", classes)


def distinct(names: Sequence[str], what: str, sql: Dialect) -> list[str]:
    """Quoted names. Raises ValueError for two that the database takes for one."""
    quoted = [sql.identifier(name) for name in names]
    seen: dict[str, str] = {}
    for name in names:
        key = sql.folded(name)
        if key in seen:
            raise ValueError(
                f"{what} must be distinct, and {sql.name} takes {seen[key]!r:.80} and "
                f"{name!r:.80} for one name."
            )
        seen[key] = name
    return quoted
