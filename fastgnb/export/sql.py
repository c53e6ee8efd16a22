"""A model as SQL: an expression for the label, or a SELECT of labels, probabilities and more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.model import Model
from .sql_dialects import DIALECTS, Dialect
from .sql_rows import SqlRow, distinct
from .sql_scores import axes, deviations
from .sql_select import select
from .terms import Terms, terms_of

__all__ = ["to_sql"]


def to_sql(
    model: Model,
    dialect: str = "duckdb",
    *,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    table: str | Sequence[str] | None = None,
    keep: Sequence[str] = (),
    joint: bool = False,
    proba: bool = False,
    evidence: bool = False,
) -> str:
    """Return scoring as SQL; see `GaussianNB.to_sql`."""
    if dialect not in DIALECTS:
        raise ValueError(f"Expected a dialect of {sorted(DIALECTS)}, got {dialect!r:.80}.")
    sql = DIALECTS[dialect]
    terms = terms_of(model)
    row = SqlRow(terms, sql, _columns(terms, columns, sql))
    if table is not None:
        return select(row, table, keep, {"joint": joint, "proba": proba, "evidence": evidence})
    if joint or proba or evidence or len(keep):
        raise ValueError("keep, joint, proba and evidence are columns of a SELECT: give table too.")
    return _expression(row)


def _columns(
    terms: Terms, columns: Sequence[str] | Mapping[str, str] | None, sql: Dialect
) -> list[str]:
    """The quoted column of each feature. Raises ValueError unless they are distinct."""
    if isinstance(columns, Mapping):
        unknown = [name for name in columns if name not in terms.names]
        if unknown:
            raise ValueError(
                f"columns has {unknown[0]!r:.80}, which is no feature. The model's features are "
                f"{_few(terms.names)}."
            )
        given = [columns.get(name, name) for name in terms.names]
    else:
        given = list(terms.names if columns is None else columns)
    if isinstance(columns, str) or len(given) != len(terms.names):
        raise ValueError(f"Expected columns for {len(terms.names)} features, got {columns!r:.200}.")
    return distinct(given, "Columns", sql)


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown + (", ..." if len(names) > 5 else "")


def _expression(row: SqlRow) -> str:
    """The label as one expression, in which each score is written twice."""
    terms, sql = row.terms, row.sql
    if terms.has_zeros:
        raise ValueError(
            "Some category has probability 0 (alpha is 0), and the rule for rows that all classes "
            "exclude needs a SELECT: give table."
        )
    bases = axes(terms, deviations(terms, row.features, sql), sql)
    bases = [[f"({axis})" for axis in basis] for basis in bases]
    scores = row.scores(row.features, bases, row.categories)
    return row.label(scores, sql.greatest(scores), row.usable())
