"""What differs between databases: names, numbers, text, and functions that behave differently.

A name or a text is quoted so that nothing in it is read as SQL. A number is written so that the
database reads the same float64, to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..input.type_names import type_name

__all__ = ["DIALECTS", "Dialect"]


class Dialect:
    """The parts of an expression, in the words of one database."""

    name: ClassVar[str]
    quote = '"'
    fence = ""
    """What keeps a subquery from being merged into the query around it, which would compute its
    columns once for each use."""
    float_type = "DOUBLE"
    integer_types = ("BIGINT", "UBIGINT")
    greatest_name, least_name = "greatest", "least"
    most_arguments = 10_000
    longest_name: int | None = None
    ignores_case = True

    def identifier(self, name: str) -> str:
        """A quoted name. Raises TypeError and ValueError for what is no name of a column."""
        if not isinstance(name, str):
            raise TypeError(f"Expected names that are text, got {type_name(name)}: {name!r:.80}.")
        size = len(_encoded(name, "A name"))
        if not name or (self.longest_name is not None and size > self.longest_name):
            limit = "" if self.longest_name is None else f" to {self.longest_name}"
            raise ValueError(
                f"{self.name} takes names of 1{limit} bytes, got {size}: {name!r:.80}. Give others "
                "with columns, keep or table, or rename the column in a view."
            )
        return f"{self.quote}{name.replace(self.quote, 2 * self.quote)}{self.quote}"

    def folded(self, name: str) -> str:
        """What two names share that the database takes for one."""
        return name.lower() if self.ignores_case else name

    def text(self, value: str) -> str:
        """A quoted text."""
        _encoded(value, "A label or category")
        return "'" + value.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """A float64, to the bit."""
        if math.isinf(value):
            return self.infinity(value)
        digits = repr(float(value))
        digits = digits if "e" in digits else f"{digits}e0"
        return f"({digits})" if digits[0] == "-" else digits

    def infinity(self, value: float) -> str:
        """An infinity."""
        return f"CAST('{'-' if value < 0 else ''}Infinity' AS {self.float_type})"

    def label(self, value: Any) -> str:
        """A text, a boolean or a number, as Python has it."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        return str(value) if isinstance(value, int) else self.number(value)

    def typed(self, expression: str, values: Sequence[Any]) -> str:
        """An expression for one of these labels, of one type for all of them."""
        if not all(isinstance(each, int) and not isinstance(each, bool) for each in values):
            return expression
        return f"CAST({expression} AS {self.integer_types[max(values) >= 2**63]})"

    def real(self, column: str) -> str:
        """A column of numbers as float64."""
        return f"CAST({column} AS {self.float_type})"

    def is_number(self, column: str) -> str:
        """A condition that a value is a number, or "" where the type of the column says it."""
        return ""

    def is_text(self, column: str) -> str:
        """A condition that a value is a text, or "" where the type of the column says it."""
        return ""

    def not_nan(self, expression: str) -> str:
        """A float64 that is NULL where it was NaN."""
        return f"NULLIF({expression}, CAST('NaN' AS {self.float_type}))"

    def category(self, column: str, kind: str) -> str:
        """A category of NumPy's kind ("b", "i", "u", or "O" for text): NULL where it was NaN."""
        return self.not_nan(column) if kind in "iu" else column

    def collated(self, column: str) -> str:
        """A text that is compared byte by byte."""
        return column

    def greatest(self, expressions: Sequence[str]) -> str:
        """The largest of numbers, none of which is NULL."""
        return self._fold(self.greatest_name, expressions)

    def least(self, expressions: Sequence[str]) -> str:
        """The smallest of numbers, none of which is NULL."""
        return self._fold(self.least_name, expressions)

    def _fold(self, function: str, expressions: Sequence[str]) -> str:
        size = self.most_arguments
        while len(expressions) > 1:
            parts = [expressions[at : at + size] for at in range(0, len(expressions), size)]
            expressions = [
                part[0] if len(part) == 1 else f"{function}({', '.join(part)})" for part in parts
            ]
        return expressions[0]

    def first(self, best: str, scores: Sequence[str], labels: Sequence[str]) -> str:
        """The label of the first score that is the best one."""
        whens = "".join(
            f"\n    WHEN {score} THEN {label}" for score, label in zip(scores, labels, strict=True)
        )
        return f"CASE {best}{whens} END"

    def flushed(self, expression: str, least: float) -> str:
        """An expression, whose values below `least` may become 0 where an underflow raises."""
        return expression

    def exp(self, expression: str) -> str:
        """exp of a number up to 0."""
        return f"exp({expression})"


class DuckDB(Dialect):
    """DuckDB: its numbers without an exponent are decimals."""

    name = "DuckDB"

    def is_text(self, column: str) -> str:
        return f"(typeof({column}) = 'VARCHAR' OR typeof({column}) LIKE 'ENUM%')"

    def collated(self, column: str) -> str:
        return f'CAST({column} AS VARCHAR) COLLATE "C"'

    def first(self, best: str, scores: Sequence[str], labels: Sequence[str]) -> str:
        # A simple CASE would copy `best` for each score.
        place = f"list_position([{', '.join(scores)}], {best})"
        return f"[{', '.join(labels)}][{place}]"


class SQLite(Dialect):
    """SQLite: values, not columns, have types; booleans are 0 and 1; NaN is NULL.

    A name in double quotes that is no column would be a text there, but not one in backticks. It
    reads 17 digits exactly, and fewer not always; near the ends of float64 only whole numbers and
    powers of 2 are safe.
    """

    name = "SQLite"
    quote = "`"
    fence = " LIMIT -1 OFFSET 0"
    greatest_name, least_name = "max", "min"
    most_arguments = 100
    _WHOLE = 2.0**62

    def number(self, value: float) -> str:
        if math.isinf(value):
            return self.infinity(value)
        if value == 0 or 1e-250 < abs(value) < 1e250:
            digits = format(value, ".17g")
            digits = digits if set(digits) & {".", "e"} else f"{digits}.0"
            return f"({digits})" if digits[0] == "-" else digits
        mantissa, exponent = math.frexp(value)
        text, exponent = f"({int(mantissa * 2**53)}.0", exponent - 53
        operator = "*" if exponent > 0 else "/"
        whole, rest = divmod(abs(exponent), 62)
        return f"{text}{f' {operator} {2**62}.0' * whole} {operator} {2**rest}.0)"

    def infinity(self, value: float) -> str:
        return "(-9e999)" if value < 0 else "9e999"

    def label(self, value: Any) -> str:
        if isinstance(value, int) and value >= 2**63:
            raise ValueError(f"SQLite has whole numbers below 2^63 only, got {value}.")
        return str(int(value)) if isinstance(value, bool) else super().label(value)

    def typed(self, expression: str, values: Sequence[Any]) -> str:
        return expression

    def real(self, column: str) -> str:
        return column

    def is_number(self, column: str) -> str:
        return f"typeof({column}) IN ('integer', 'real')"

    def is_text(self, column: str) -> str:
        return f"typeof({column}) = 'text'"

    def not_nan(self, expression: str) -> str:
        return expression

    def collated(self, column: str) -> str:
        return f"{column} COLLATE BINARY"


class PostgreSQL(Dialect):
    """PostgreSQL: an overflow or an underflow of float64 is an error there.

    Deviations below 2^-498 standard deviations are taken as 0 where they would underflow, and so
    are probabilities below e^-700.
    """

    name = "PostgreSQL"
    fence = " OFFSET 0"
    float_type = "float8"
    integer_types = ("bigint", "numeric")
    longest_name = 63
    ignores_case = False

    def text(self, value: str) -> str:
        quoted = super().text(value)
        # Whether a backslash is an escape depends on a setting, but for this form.
        return f"E{quoted.replace(chr(92), 2 * chr(92))}" if "\\" in value else quoted

    def number(self, value: float) -> str:
        return self.infinity(value) if math.isinf(value) else f"'{float(value)!r}'::float8"

    def collated(self, column: str) -> str:
        return f'{column} COLLATE "C"'

    def flushed(self, expression: str, least: float) -> str:
        if least == 0:
            return expression
        is_small = f"abs({expression}) < {self.number(least)}"
        return f"(CASE WHEN {is_small} THEN {self.number(0.0)} ELSE {expression} END)"

    def exp(self, expression: str) -> str:
        is_small = f"{expression} < {self.number(-700.0)}"
        return f"CASE WHEN {is_small} THEN {self.number(0.0)} ELSE exp({expression}) END"


DIALECTS: dict[str, Dialect] = {
    "duckdb": DuckDB(), "sqlite": SQLite(), "postgres": PostgreSQL(),
}  # fmt: skip


def _encoded(value: str, what: str) -> bytes:
    """Raise ValueError for text that no SQL can hold."""
    try:
        data = value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what} holds a lone surrogate, which is no text: {value!r:.80}."
        ) from error
    if b"\0" in data:
        raise ValueError(f"{what} holds a NUL character, which SQL cannot: {value!r:.80}.")
    return data
