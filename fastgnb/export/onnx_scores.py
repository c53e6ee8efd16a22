"""The scores of classes as ONNX operators, in float64.

Rows are (n, c), scores (n, k). Deviations from means are taken first, as the kernels do, and
squares are never expanded. A row that no class scores above -inf is so far away that squares
overflow, or has a category that no class ever had; the rules for both are those of `kernels.score`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.score.whitened import WhitenedTerms
from .onnx_graph import Graph
from .terms import CategoryTerms, Terms

__all__ = ["Categories", "category_positions", "scores"]


class Categories(NamedTuple):
    """What categorical features add to scores (n, k).

    limit : log probabilities, and what stays finite of those that are -inf.
    misses : how many of them are -inf, or None where none can be.
    """

    limit: str
    misses: str | None


def scores(graph: Graph, terms: Terms, rows: str | None, categories: Categories | None) -> str:
    """Scores (n, k) of rows (n, c), where there are continuous features."""
    const = graph.constant(terms.const[None])
    total = const if categories is None else graph.add("Add", const, categories.limit)
    if categories is not None and categories.misses is not None:
        total = _of_fewest(graph, terms, total, categories.misses)
    if rows is None:
        return total
    squares = _squares(graph, terms, rows)
    near = graph.add("Sub", total, graph.sum_over(squares, 2))
    best = graph.add("ReduceMax", near, axes=[1], keepdims=1)
    is_far = graph.add("Equal", best, graph.constant(np.float64(-np.inf)))
    count = graph.sum_over(graph.sum_over(graph.add("Cast", is_far, to=_INT64), 1), 0)
    some = graph.add("Greater", count, graph.constant(np.int64(0)))
    return graph.cond(
        some,
        near,
        lambda branch: branch.where(is_far, _of_nearest(branch, terms, rows, total), near),
        [None, len(terms.const)],
    )


_INT64 = 7  # onnx.TensorProto.INT64


def _of_fewest(graph: Graph, terms: Terms, total: str, misses: str) -> str:
    """-inf for classes that exclude more of a row's categories than another one that can win."""
    never = np.where(terms.const == -np.inf, np.inf, 0.0)[None]
    counted = graph.add("Add", misses, graph.constant(never))
    fewest = graph.add("ReduceMin", counted, axes=[1], keepdims=1)
    return graph.where(graph.is_above(counted, fewest), -np.inf, total)


def _deviations(graph: Graph, terms: Terms, rows: str, power: int) -> str:
    """Deviations (n, k, r) in standard deviations, times 2**-power."""
    gaussian, unit = terms.gaussian, 2.0**-power
    scale = graph.constant(gaussian.scale[None])
    if power:  # whose differences do not overflow
        rows = graph.add("Mul", rows, graph.constant(np.float64(unit)))
    wide = graph.add("Unsqueeze", rows, graph.constant(np.array([1])))
    mean = graph.constant(gaussian.mean[None] * unit)
    if isinstance(gaussian, WhitenedTerms):
        wide = _along_axes(graph, gaussian, wide, unit)
    return graph.add("Mul", graph.add("Sub", wide, mean), scale)


def _along_axes(graph: Graph, gaussian: WhitenedTerms, wide: str, unit: float) -> str:
    """Coordinates (n, g, r) of rows (n, 1, d)."""
    centred = graph.add("Sub", wide, graph.constant(gaussian.centre[None] * unit))
    turned = graph.add("Transpose", centred, perm=[1, 0, 2])
    axes = graph.constant(np.ascontiguousarray(gaussian.whitener.transpose(0, 2, 1)))
    along = graph.add("MatMul", turned, axes)
    return graph.add("Transpose", along, perm=[1, 0, 2])


def _squares(graph: Graph, terms: Terms, rows: str) -> str:
    """What each feature or axis takes away from each score (n, k, r)."""
    deviations = _deviations(graph, terms, rows, 0)
    squares = graph.add("Mul", deviations, deviations)
    gaussian = terms.gaussian
    if isinstance(gaussian, WhitenedTerms) or gaussian.log_norm is None:
        return squares
    whole = graph.add("Add", squares, graph.constant(gaussian.log_norm[None]))
    return graph.where(graph.add("IsNaN", deviations), 0.0, whole)


def _of_nearest(graph: Graph, terms: Terms, rows: str, total: str) -> str:
    """Scores (n, k) of rows whose squares overflow: the nearest classes share the probability."""
    distances = graph.add("Abs", _deviations(graph, terms, rows, 602))
    gaussian = terms.gaussian
    if not isinstance(gaussian, WhitenedTerms) and gaussian.log_norm is not None:
        is_missing = graph.add("IsNaN", distances)
        distances = graph.where(is_missing, 0.0, distances)
        norms = graph.where(is_missing, 0.0, graph.constant(gaussian.log_norm[None]))
        total = graph.add("Sub", total, graph.sum_over(norms, 2))
    can_win = graph.is_above(total, -np.inf)
    wide = graph.add("Unsqueeze", can_win, graph.constant(np.array([2])))
    largest = graph.where(wide, distances, 0.0)
    largest = graph.add("ReduceMax", largest, axes=[1, 2], keepdims=1)
    infinite = graph.add("Squeeze", graph.add("IsInf", largest), graph.constant(np.array([2])))
    largest = graph.where(graph.is_above(largest, 0.0), largest, 1.0)
    shares = graph.add("Div", distances, largest)
    squares = graph.sum_over(graph.add("Mul", shares, shares), 2)
    squares = graph.where(can_win, squares, np.inf)
    least = graph.add("ReduceMin", squares, axes=[1], keepdims=1)
    nearest = graph.where(graph.is_above(squares, least), -np.inf, total)
    return graph.where(infinite, np.nan, nearest)


def category_positions(graph: Graph, each: CategoryTerms, values: str, *, skip: bool) -> str:
    """Positions (n,) of categories (n, 1): m for one that was not seen, m + 1 for a missing one."""
    known = each.categories.tolist()
    m = len(known)
    places = list(range(m))
    if each.is_text or not known:
        if "" not in known and (skip or not known):
            known, places = [*known, ""], [*places, m + skip]
        keys = {"keys_strings": known}
    else:
        values = graph.add("Cast", values, to=_INT64)
        keys = {"keys_int64s": [int(label) for label in known]}
    places_of = graph.add(
        "LabelEncoder", values, domain="ai.onnx.ml", values_int64s=places, default_int64=m, **keys
    )
    return graph.add("Squeeze", places_of, graph.constant(np.array([1])))
