"""Which rows of a record batch meet a condition, exactly.

Values are compared as what they are: whole numbers as such however large, floats and decimals in
float64, text by its characters, dates and times with text such as '2026-11-30'. Text of CSV is a
number where it is compared with one. NaN is a missing value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._system.optional import pa, pc
from ..errors import SourceError
from .column_kinds import is_numeric, is_text, plain
from .csv_dialect import CsvDialect
from .csv_errors import short_line
from .csv_numbers import numbers_of_text
from .decimals import nearest_floats
from .texts import NULLS
from .where_tree import And, Columns, Compare, In, IsNull, Leaf, Literal, Node, Or

__all__ = ["RowFilter"]

_FUNCTIONS = {
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}
_BOOLEANS = {"true": True, "false": False}


class RowFilter(NamedTuple):
    """A condition on the rows of one file.

    path : the file, for messages. dialect : how its text spells numbers, or None where its columns
    have types.
    """

    node: Node
    path: object
    dialect: CsvDialect | None

    def mask(self, rows: pa.RecordBatch, first_row: int) -> np.ndarray:
        """Rows (n,) that meet the condition. Raises SourceError for what cannot be compared."""
        columns = {name: rows.column(name) for name in rows.schema.names}
        return self._mask(self.node, columns, first_row)

    def _mask(self, node: Node, columns: Mapping[str, pa.Array], first_row: int) -> np.ndarray:
        if isinstance(node, And | Or):
            masks = [self._mask(part, columns, first_row) for part in node.parts]
            join = np.logical_and if isinstance(node, And) else np.logical_or
            result: np.ndarray = join.reduce(masks)
            return result
        try:
            found = self._leaf(node, columns, first_row)
        except pa.ArrowException as error:
            raise SourceError(
                f"{self._where(node)}: cannot be compared: {short_line(str(error))}"
            ) from error
        mask: np.ndarray = pc.fill_null(found, False).to_numpy(zero_copy_only=False)
        return mask

    def _leaf(self, node: Leaf, columns: Mapping[str, pa.Array], first_row: int) -> pa.Array:
        column = _plain_values(columns[node.column])
        if isinstance(node, IsNull):
            is_null = self._is_missing(column)
            return pc.invert(is_null) if node.out else is_null
        if isinstance(node, Columns):
            other = _plain_values(columns[node.other])
            if self.dialect is not None:
                column, other = self._alike(column, other, node, first_row)
            return self._valid(_compared(node.op, *_one_type(column, other)), column, other)
        if isinstance(node, Compare):
            return self._compare(column, node.op, node.value, node, first_row)
        return self._in(column, node, first_row)

    def _in(self, column: pa.Array, node: In, first_row: int) -> pa.Array:
        """Whether values are among some of one kind: each is looked up, however many they are."""
        first = node.values[0]
        if pa.types.is_null(column.type):
            return pa.nulls(len(column), pa.bool_())
        if self.dialect is not None and is_text(column.type):
            column = self._as_kind_of(column, first, node, first_row)
        for value in node.values:
            self._check_kinds(column.type, value, node)
        if pa.types.is_floating(column.type):
            column = pc.cast(column, pa.float64())  # 0.1 is no float32
        found = pc.is_in(column, value_set=_value_set(node.values, column.type))
        mask = pc.and_(pc.invert(found), pc.is_valid(column)) if node.out else found
        return self._valid(mask, column)

    def _is_missing(self, column: pa.Array) -> pa.Array:
        if self.dialect is not None and is_text(column.type):
            return pc.is_in(pc.ascii_trim(column, " \t"), pa.array(sorted(NULLS)))
        return pc.is_null(column)

    def _compare(
        self, column: pa.Array, op: str, value: Literal, node: Leaf, first_row: int
    ) -> pa.Array:
        """A column beside a value, null where the column is."""
        if pa.types.is_null(column.type):
            return pa.nulls(len(column), pa.bool_())
        if self.dialect is not None and is_text(column.type):
            column = self._as_kind_of(column, value, node, first_row)
        self._check_kinds(column.type, value, node)
        if pa.types.is_integer(column.type) and not isinstance(value, str | bool):
            op, value = _among_integers(column.type, op, value)
            if op in ("all", "none"):
                return pc.if_else(pc.is_valid(column), op == "all", None)
        return self._valid(_compared(op, column, _scalar(value, column.type)), column)

    def _as_kind_of(self, column: pa.Array, value: Literal, node: Leaf, first_row: int) -> pa.Array:
        """Text of CSV as the numbers or booleans that it is compared with."""
        if isinstance(value, str):
            return column
        if isinstance(value, bool):
            return self._booleans(column, node, first_row)
        return self._numbers(column, node, first_row)

    def _numbers(self, column: pa.Array, node: Leaf, first_row: int) -> pa.Array:
        assert self.dialect is not None
        bare = pc.ascii_trim(column, " \t")
        is_null = pc.is_in(bare, pa.array(sorted(NULLS)))
        try:  # exactly, where they are whole
            return pc.cast(pc.if_else(is_null, pa.scalar(None, pa.string()), bare), pa.int64())
        except pa.ArrowInvalid:
            parsed, row = numbers_of_text(column, self.dialect)
        if parsed is None:
            raise self._not(column, row, "a number", node, first_row)
        return _plain_values(parsed)

    def _booleans(self, column: pa.Array, node: Leaf, first_row: int) -> pa.Array:
        texts = pc.ascii_lower(pc.ascii_trim(column, " \t")).to_pylist()
        for row, text in enumerate(texts):
            if text not in _BOOLEANS and column[row].as_py().strip(" \t") not in NULLS:
                raise self._not(column, row, "true or false", node, first_row)
        return pa.array([_BOOLEANS.get(text) for text in texts], pa.bool_())

    def _alike(
        self, column: pa.Array, other: pa.Array, node: Leaf, first_row: int
    ) -> tuple[pa.Array, pa.Array]:
        """Two columns of CSV as numbers, where one of them is."""
        one = [self._try_numbers(each, node, first_row) for each in (column, other)]
        if all(each is not None for each in one):
            return one[0], one[1]
        return column, other

    def _valid(self, mask: pa.Array, *columns: pa.Array) -> pa.Array:
        """A comparison that no empty field of CSV meets, as it is missing."""
        for column in columns:
            if self.dialect is not None and is_text(column.type):
                # No nulls in its place: Arrow 16 loses rows of slices of text in `if_else`.
                mask = pc.and_(mask, pc.not_equal(column, ""))
        return mask

    def _try_numbers(self, column: pa.Array, node: Leaf, first_row: int) -> pa.Array | None:
        if not is_text(column.type):
            return column
        try:
            return self._numbers(column, node, first_row)
        except SourceError:
            return None

    def _not(
        self, column: pa.Array, row: int, expected: str, node: Leaf, first_row: int
    ) -> SourceError:
        text = column[row].as_py()
        return SourceError(
            f"{self.path}: column {node.column!r}, row {first_row + row + 1}: expected {expected}, "
            f"as it is compared with one in --where, got {text!r}; text is compared with '...'"
        )

    def _check_kinds(self, kind: pa.DataType, value: Literal, node: Leaf) -> None:
        is_boolean = pa.types.is_boolean(kind)
        if isinstance(value, bool):
            fits, needed = is_boolean, "true or false"
        elif isinstance(value, str):
            fits, needed = not (is_numeric(kind) or is_boolean), "text"
        else:
            fits, needed = is_numeric(kind) and not is_boolean, "a number"
        if not fits:
            held = "text" if is_text(kind) else str(kind)
            raise SourceError(
                f"{self._where(node)}: the column is {held}, and is compared with {needed}"
            )

    def _where(self, node: Leaf) -> str:
        return f"{self.path}: column {node.column!r} of --where (position {node.at + 1})"


def _value_set(values: Sequence[Literal], kind: pa.DataType) -> pa.Array:
    """The values that the type holds, as an array of it."""
    if pa.types.is_integer(kind):
        pairs = [_among_integers(kind, "==", value) for value in values]  # type: ignore[arg-type]
        return pa.array([whole for op, whole in pairs if op == "=="], kind)
    return pa.array([_scalar(value, kind).as_py() for value in values], kind)


def _compared(op: str, a: pa.Array, b: pa.Array | pa.Scalar) -> pa.Array:
    return pc.call_function(_FUNCTIONS[op], [a, b])


def _plain_values(column: pa.Array) -> pa.Array:
    """Values without dictionaries, of which NaN is missing."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, plain(column.type))
    if pa.types.is_float16(column.type):
        column = pc.cast(column, pa.float32())
    if pa.types.is_decimal(column.type):
        column = pa.array(nearest_floats(column))
    if pa.types.is_floating(column.type):
        is_nan = pc.fill_null(pc.is_nan(column), False)
        column = pc.if_else(is_nan, pa.scalar(None, column.type), column)
    return column


def _one_type(a: pa.Array, b: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Whole numbers as floats beside floats, rounded where float64 cannot hold them."""
    floating = [pa.types.is_floating(each.type) for each in (a, b)]
    if any(floating) and not all(floating):
        return tuple(  # a pair
            pc.cast(each, pa.float64(), safe=False) if pa.types.is_integer(each.type) else each
            for each in (a, b)
        )
    return a, b


def _among_integers(kind: pa.DataType, op: str, value: float) -> tuple[str, Any]:
    """The same comparison with a whole number that the type holds; "all" or "none" decide it."""
    info = np.iinfo(kind.to_pandas_dtype())
    if value > info.max or value < info.min:
        holds = op == "!=" or op in (("<", "<=") if value > info.max else (">", ">="))
        return "all" if holds else "none", value
    whole = math.floor(value)
    if whole == value:
        return op, whole
    if op in ("==", "!="):
        return "all" if op == "!=" else "none", value
    return "<=" if op in ("<", "<=") else ">", whole


def _scalar(value: Literal, kind: pa.DataType) -> pa.Scalar:
    if isinstance(value, str):
        return pc.cast(pa.scalar(value), kind)
    if isinstance(value, bool):
        return pa.scalar(value)
    return pa.scalar(value, kind) if pa.types.is_integer(kind) else pa.scalar(_as_float(value))


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
