"""The scores of classes as SQL expressions.

They take the operations of the kernels in the same order, but for fused multiply-adds, which SQL
lacks. Squares are never expanded. Values so far out that a square would overflow make the row's
answers NULL: `limits`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.score.whitened import WhitenedTerms
from .sql_dialects import Dialect
from .terms import CategoryTerms, Terms

__all__ = [
    "axes",
    "category_term",
    "deviations",
    "in_brackets",
    "limits",
    "misses",
    "score",
    "summed",
]

_MOST = 2.0**498
"""Most standard deviations: the sum of their squares does not overflow."""
_CHUNK = 32
"""Terms in one bracket: databases limit how deeply expressions are nested."""


def limits(terms: Terms) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest value (c,) of each continuous feature that can be scored."""
    gaussian, possible = terms.gaussian, terms.possible
    if isinstance(gaussian, WhitenedTerms):
        centre, share = gaussian.centre[_bases(gaussian, possible)], _weights(terms)
        width = _MOST / np.maximum(share, 2.0**-500) / max(1, len(share))
    else:
        centre, width = gaussian.mean[possible], _MOST / gaussian.scale[possible]
    width = np.minimum(width, 1e300)
    with np.errstate(over="ignore"):
        low, high = (centre - width).max(axis=0), (centre + width).min(axis=0)
    most = np.finfo(np.float64).max
    return np.maximum(low, -most), np.minimum(high, most)


def deviations(terms: Terms, features: Sequence[str], sql: Dialect) -> list[list[str]]:
    """Deviations (g, d) of a row from the centres of the bases that decide; [] without bases."""
    gaussian = terms.gaussian
    if not isinstance(gaussian, WhitenedTerms):
        return []
    least = (1.0 / _MOST / _weights(terms)).tolist()
    return [
        [
            sql.flushed(f"({feature} - {sql.number(middle)})", limit)
            for feature, middle, limit in zip(features, centre, least, strict=True)
        ]
        for centre in gaussian.centre[_bases(gaussian, terms.possible)].tolist()
    ]


def axes(terms: Terms, centred: Sequence[Sequence[str]], sql: Dialect) -> list[list[str]]:
    """Coordinates (g, r) of a row in each basis that decides, of its deviations (g, d)."""
    gaussian = terms.gaussian
    if not isinstance(gaussian, WhitenedTerms):
        return []
    whitener = gaussian.whitener[_bases(gaussian, terms.possible)].tolist()
    return [
        [_combination(row, own, sql) for row in basis]
        for basis, own in zip(whitener, centred, strict=True)
    ]


def score(
    terms: Terms, c: int, values: Sequence[str], categories: Sequence[str], sql: Dialect
) -> str:
    """The score of class c, from what it has squares of (features, or axes) and log probabilities.

    With `skip`, the term of a value that is NULL is left out.
    """
    gaussian = terms.gaussian
    mean, scale = gaussian.mean[c].tolist(), gaussian.scale[c].tolist()
    parts = [_square(*each, sql) for each in zip(values, mean, scale, strict=True)]
    if not isinstance(gaussian, WhitenedTerms) and gaussian.log_norm is not None:
        norms = map(sql.number, gaussian.log_norm[c].tolist())
        zero = sql.number(0.0)
        parts = [
            f"COALESCE({part} + {norm}, {zero})" for part, norm in zip(parts, norms, strict=True)
        ]
    total = sql.number(float(terms.const[c]))
    if parts:
        total = f"{total} - {summed(parts, sql)}"
    return f"{total} + {summed(categories, sql)}" if categories else total


def category_term(
    each: CategoryTerms, row: NDArray[Any], column: str, sql: Dialect, *, skip: bool
) -> str:
    """What a row (m + 1,) of a table holds for a category: NULL, or with `skip` 0, if missing."""
    missing = sql.number(0.0) if skip else "NULL"
    *known, other = [sql.number(value) for value in row.tolist()]
    whens = "".join(
        f" WHEN {sql.label(category)} THEN {value}"
        for category, value in zip(each.categories.tolist(), known, strict=True)
        if value != other
    )
    value = sql.collated(column) if each.is_text else column
    found = f"CASE {value}{whens} ELSE {other} END" if whens else other
    return f"CASE WHEN {column} IS NULL THEN {missing} ELSE {found} END"


def misses(terms: Terms, c: int, columns: Sequence[str], sql: Dialect) -> str:
    """How many categories of a row have probability 0 in class c."""
    parts = [
        category_term(each, (each.table[c] == -np.inf).astype(float), column, sql, skip=True)
        for each, column in zip(terms.categorical, columns, strict=True)
        if (each.table[c] == -np.inf).any()
    ]
    return summed(parts, sql)


def summed(parts: Sequence[str], sql: Dialect) -> str:
    """The sum of expressions."""
    return in_brackets(parts, " + ") if parts else sql.number(0.0)


def in_brackets(parts: Sequence[str], operator: str) -> str:
    """Expressions between which an operator stands, in brackets that are not nested deeply."""
    while len(parts) > 1:
        chunks = [parts[at : at + _CHUNK] for at in range(0, len(parts), _CHUNK)]
        parts = [f"({operator.join(chunk)})" if len(chunk) > 1 else chunk[0] for chunk in chunks]
    return parts[0]


def _bases(gaussian: WhitenedTerms, possible: NDArray[np.intp]) -> NDArray[np.intp]:
    """The bases of the classes that can win."""
    return possible if len(gaussian.centre) > 1 else np.zeros(1, np.intp)


def _weights(terms: Terms) -> NDArray[np.float64]:
    """The most standard deviations (d,) along any axis that a step of 1 of a feature makes."""
    gaussian, possible = terms.gaussian, terms.possible
    assert isinstance(gaussian, WhitenedTerms)
    step = np.abs(gaussian.whitener[_bases(gaussian, possible)])
    scale = gaussian.scale[possible]
    scale = scale.max(axis=0, keepdims=True) if len(step) == 1 else scale
    return np.asarray((step * scale[:, :, None]).max(axis=(0, 1), initial=2.0**-500))


def _combination(row: list[float], centred: Sequence[str], sql: Dialect) -> str:
    """The sum of deviations by their weights, which are 0 for half of them in a triangle."""
    parts = [
        f"{sql.number(weight)} * {deviation}"
        for weight, deviation in zip(row, centred, strict=True)
        if weight != 0
    ]
    return summed(parts, sql)


def _square(value: str, mean: float, scale: float, sql: Dialect) -> str:
    # A difference from a mean of many standard deviations is 0, or large enough.
    least = 0.0 if abs(mean) * scale > 2.0**-440 else min(1.0 / _MOST / scale, 1e300)
    deviation = f"{sql.flushed(f'({value} - {sql.number(mean)})', least)} * {sql.number(scale)}"
    return f"({deviation}) * ({deviation})"
