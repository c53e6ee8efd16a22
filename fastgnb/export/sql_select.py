"""The SELECT of labels, probabilities and densities: a chain of subqueries.

Each level computes its columns once: features, coordinates along axes, scores, the best one, and
exponentials. They have names of their own inside, f0, s0 and so on, so that none can be a column
of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .sql_dialects import Dialect
from .sql_rows import SqlRow, distinct
from .sql_scores import axes, deviations, misses, summed

__all__ = ["select"]


def select(
    row: SqlRow, table: str | Sequence[str], keep: Sequence[str], answers: Mapping[str, bool]
) -> str:
    """A SELECT of the kept columns and of what is wanted: "joint", "proba" and "evidence"."""
    sql = row.sql
    parts = [table] if isinstance(table, str) else list(table)
    source = ".".join(sql.identifier(part) for part in parts)
    kept = {f"k{i}": sql.identifier(name) for i, name in enumerate(keep)}
    query = _with_features(row, kept, source)
    query = _with_scores(row, list(kept), query)
    query = _with_best(row, list(kept), query)
    if answers["proba"] or answers["evidence"]:
        query = _with_exponentials(row, list(kept), query)
    columns = _answers(row, answers)
    names = distinct([*keep, *columns], "Columns of the result", sql)
    values = [*kept, *columns.values()]
    chosen = ",\n  ".join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
    return f"SELECT\n  {chosen}\nFROM {query}"


def _level(columns: Mapping[str, str], source: str, sql: Dialect, level: str) -> str:
    """A subquery of columns by their names."""
    chosen = ",\n  ".join(
        name if name == value else f"{value} AS {name}" for name, value in columns.items()
    )
    return f"(SELECT\n  {chosen}\nFROM {source}{sql.fence}) AS {level}"


def _same(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


def _numbered(letter: str, values: Sequence[str]) -> dict[str, str]:
    return {f"{letter}{i}": value for i, value in enumerate(values)}


def _with_features(row: SqlRow, kept: Mapping[str, str], source: str) -> str:
    """Features f and categories g, NULL where they cannot be scored; with `skip` also whether the
    row can be."""
    values = [row.sql.real(row.columns[j]) for j in row.terms.continuous]
    features, categories = (
        [
            f"CASE WHEN {condition} THEN {value} END"
            for condition, value in zip(conditions, given, strict=True)
        ]
        for conditions, given in ((row.in_range(), values), (row.of_kind(), row.categories))
    )
    usable = {"usable": row.usable()} if row.terms.skip else {}
    columns = {**kept, **_numbered("f", features), **_numbered("g", categories), **usable}
    return _level(columns, source, row.sql, "features")


def _with_scores(row: SqlRow, kept: list[str], query: str) -> str:
    """Scores s of the classes that can win, all of them NULL for a row that cannot be scored."""
    terms, sql = row.terms, row.sql
    features = [f"f{i}" for i in range(len(terms.continuous))]
    categories = [f"g{i}" for i in range(len(terms.categorical))]
    rest = [*kept, *categories]
    given, query = _in_bases("d", deviations(terms, features, sql), rest, query, sql)
    bases, query = _in_bases("a", axes(terms, given, sql), rest, query, sql)
    scores = row.scores(features, bases, categories)
    if terms.skip:
        scores = [f"CASE WHEN usable THEN {score} END" for score in scores]
    columns = {**_same(kept), **_numbered("s", scores)}
    if terms.has_zeros:
        counts = [misses(terms, int(c), categories, sql) for c in terms.possible]
        columns |= _numbered("m", counts)
    return _level(columns, query, sql, "scores")


def _in_bases(
    letter: str, bases: list[list[str]], rest: list[str], query: str, sql: Dialect
) -> tuple[list[list[str]], str]:
    """A level of columns for each basis: their names, and the query."""
    columns = [_numbered(f"{letter}{b}_", basis) for b, basis in enumerate(bases)]
    if columns:
        level = _same(rest)
        for each in columns:
            level |= each
        query = _level(level, query, sql, "deviations" if letter == "d" else "axes")
    return [list(each) for each in columns], query


def _with_best(row: SqlRow, kept: list[str], query: str) -> str:
    """The best score. A class counts if it gives the fewest categories the probability 0."""
    terms, sql = row.terms, row.sql
    k = len(terms.possible)
    names = [f"s{i}" for i in range(k)]
    joint: dict[str, str] = {}
    if terms.has_zeros:
        numbers = [f"m{i}" for i in range(k)]
        fewest = {**_same([*kept, *names, *numbers]), "fewest": sql.least(numbers)}
        query = _level(fewest, query, sql, "fewest")
        none = sql.number(-np.inf)
        joint = {
            f"j{i}": f"CASE WHEN s{i} IS NOT NULL AND m{i} > 0 THEN {none} ELSE s{i} END"
            for i in range(k)
        }
        scores = {
            f"s{i}": f"CASE WHEN s{i} IS NOT NULL AND m{i} > fewest THEN {none} ELSE s{i} END"
            for i in range(k)
        }
        joint["fewest"] = "fewest"
        query = _level({**_same(kept), **scores, **joint}, query, sql, "counted")
    best = {**_same([*kept, *names, *joint]), "best": sql.greatest(names)}
    return _level(best, query, sql, "best")


def _with_exponentials(row: SqlRow, kept: list[str], query: str) -> str:
    """Exponentials e of the scores less the best one, and their total."""
    terms, sql = row.terms, row.sql
    k = len(terms.possible)
    rest = [f"s{i}" for i in range(k)] + ["best"]
    if terms.has_zeros:
        rest += [f"j{i}" for i in range(k)] + ["fewest"]
    powers = [sql.exp(f"(s{i} - best)") for i in range(k)]
    query = _level({**_same([*kept, *rest]), **_numbered("e", powers)}, query, sql, "exponentials")
    names = [f"e{i}" for i in range(k)]
    total = {**_same([*kept, *rest, *names]), "total": summed(names, sql)}
    return _level(total, query, sql, "total")


def _answers(row: SqlRow, answers: Mapping[str, bool]) -> dict[str, str]:
    """The columns of the result, by their names."""
    terms, sql = row.terms, row.sql
    place = {int(c): i for i, c in enumerate(terms.possible)}
    names = [f"s{i}" for i in place.values()]
    out = {"prediction": row.label(names, "best", "best IS NOT NULL")}
    letter = "j" if terms.has_zeros else "s"
    never = "CASE WHEN best IS NOT NULL THEN {} END"
    for wanted, found, other in (
        ("joint", letter + "{}", -np.inf),
        ("proba", "e{} / total", 0.0),
    ):
        for c, label in enumerate(terms.classes.tolist()):
            if answers[wanted]:
                value = found.format(place[c]) if c in place else never.format(sql.number(other))
                out[f"{wanted}_{label}"] = value
    if answers["evidence"]:
        evidence = "best + ln(total)"
        if terms.has_zeros:
            evidence = f"CASE WHEN fewest > 0 THEN {sql.number(-np.inf)} ELSE {evidence} END"
            evidence = never.format(evidence)
        out["log_evidence"] = evidence
    return out
