"""Conditions on rows as trees, and which of their parts can be true of a file or a row group.

A condition holds no "not": a negation is moved to the comparisons when it is read. A comparison
with a missing value is true of nothing, as in SQL, so that unknown and false are the same.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

__all__ = [
    "OPERATORS",
    "And",
    "Bounds",
    "Columns",
    "Compare",
    "In",
    "IsNull",
    "Leaf",
    "Node",
    "Or",
    "columns_of",
    "may_hold",
    "negated",
    "reduced",
]

Literal = int | float | str | bool
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_INVERSE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclasses.dataclass(frozen=True)
class Compare:
    """A column beside a value. `at` is the position in the text, from 0."""

    column: str
    op: str
    value: Literal
    at: int


@dataclasses.dataclass(frozen=True)
class Columns:
    """A column beside another column."""

    column: str
    op: str
    other: str
    at: int


@dataclasses.dataclass(frozen=True)
class In:
    """Whether a column holds one of some values, or with `out` none of them."""

    column: str
    values: tuple[Literal, ...]
    out: bool
    at: int


@dataclasses.dataclass(frozen=True)
class IsNull:
    """Whether a value is missing, or with `out` is there."""

    column: str
    out: bool
    at: int


@dataclasses.dataclass(frozen=True)
class And:
    parts: tuple[Node, ...]


@dataclasses.dataclass(frozen=True)
class Or:
    parts: tuple[Node, ...]


Leaf = Compare | Columns | In | IsNull
Node = Leaf | And | Or


class Bounds(NamedTuple):
    """What is known of the values of a column: the least and the largest, None where unknown.

    has_value, has_null : whether some may be there, or missing.
    """

    least: Any = None
    most: Any = None
    has_value: bool = True
    has_null: bool = True

    @classmethod
    def of(cls, value: Any) -> Bounds:
        """Those of one value, or of None."""
        return cls(value, value, value is not None, value is None)


def negated(node: Node) -> Node:
    """The condition that holds where this one is false; of a missing value neither holds."""
    if isinstance(node, And):
        return Or(tuple(map(negated, node.parts)))
    if isinstance(node, Or):
        return And(tuple(map(negated, node.parts)))
    if isinstance(node, In | IsNull):
        return dataclasses.replace(node, out=not node.out)
    return dataclasses.replace(node, op=_INVERSE[node.op])


def columns_of(node: Node) -> list[str]:
    """The columns of a condition, each once, in their order."""
    if isinstance(node, And | Or):
        return list(dict.fromkeys(name for part in node.parts for name in columns_of(part)))
    return [node.column, node.other] if isinstance(node, Columns) else [node.column]


def reduced(node: Node, known: Callable[[Leaf], bool | None]) -> Node | bool:
    """The condition without the parts whose truth is known; True or False where that decides."""
    if not isinstance(node, And | Or):
        truth = known(node)
        return node if truth is None else truth
    decides = isinstance(node, Or)
    parts = [reduced(part, known) for part in node.parts]
    if any(part is decides for part in parts):
        return decides
    left = tuple(part for part in parts if not isinstance(part, bool))
    if not left:
        return not decides
    return left[0] if len(left) == 1 else dataclasses.replace(node, parts=left)


def may_hold(node: Node, bounds: Mapping[str, Bounds]) -> bool:
    """Whether a row may meet the condition, by the bounds of columns; others may hold anything."""
    if isinstance(node, And):
        return all(may_hold(part, bounds) for part in node.parts)
    if isinstance(node, Or):
        return any(may_hold(part, bounds) for part in node.parts)
    found = bounds.get(node.column)
    if found is None or isinstance(node, Columns):
        return True
    if isinstance(node, IsNull):
        return found.has_value if node.out else found.has_null
    if not found.has_value:
        return False
    if isinstance(node, In):
        return _may_be_in(node, found)
    return _may_compare(node.op, node.value, found)


def _may_be_in(node: In, found: Bounds) -> bool:
    tests: Iterable[bool] = (
        _may_compare("!=" if node.out else "==", value, found) for value in node.values
    )
    return all(tests) if node.out else any(tests)


def _may_compare(op: str, value: Literal, found: Bounds) -> bool:
    least, most = found.least, found.most
    if not (_comparable(least, value) and _comparable(most, value)):
        return True
    if op == "==":
        return bool(least <= value <= most)
    if op == "!=":
        return not (least == value == most)
    return OPERATORS[op](least if op in ("<", "<=") else most, value)


def _comparable(a: Any, b: Any) -> bool:
    """Whether both are numbers or both are texts."""
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str)
    return type(a) in (int, float) and type(b) in (int, float) and a == a
