"""The text of a condition to a tree: comparisons, in, is null, and, or, not, parentheses.

    year >= 2026 and month in (11, 12)
    not (`unit price` < 1.5 or region is null)
    0 < x <= 10

Names of columns are written as they are, or between backticks. Texts are in single or double
quotes, a quote in them is doubled. Words such as `and` may be in capitals. Nothing is evaluated but
what is written here.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from .where_tree import And, Columns, Compare, In, IsNull, Literal, Node, Or, negated

__all__ = ["WhereError", "parse_where"]

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])
    | (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<quoted>`(?:[^`]|``)+`)
    | (?P<word>[^\W\d]\w*)
    | (?P<op><=|>=|==|!=|<>|=|<|>)
    | (?P<mark>[(),\[\]])
    | (?P<end>$)
    )""",
    re.VERBOSE,
)
_WORDS = {"and", "or", "not", "in", "is", "null", "true", "false"}
_SAME = {"=": "==", "<>": "!="}
_MIRROR = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ADVICE = {"&": "say and", "|": "say or", "~": "say not", "!": "say not", "`": "no ` ends the name"}
_ADVICE |= dict.fromkeys("'\"", "no quote ends the text") | dict.fromkeys("+-*/%", "no arithmetic")
_ADVICE["."] = "a name that holds more than letters and digits is written between `"
_DEEPEST, _LONGEST = 50, 400


class WhereError(ValueError):
    """A text that is no condition; the message says where and what was expected."""


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class _Name(NamedTuple):
    name: str


def parse_where(text: str) -> Node:
    """The condition that a text writes. Raises WhereError with the position, from 1."""
    parser = _Parser(text)
    node = parser.disjunction(0)
    parser.expect("end", "and, or, or the end")
    return node


class _Parser:
    """Recursive descent over tokens."""

    def __init__(self, text: str) -> None:
        self._text, self._tokens, at = text, list[_Token](), 0
        while not self._tokens or self._tokens[-1].kind != "end":
            match = _TOKEN.match(text, at)
            if match is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                advice = _ADVICE.get(text[at], "")
                self._fail(at, f"unexpected {text[at]!r}" + (f", {advice}" if advice else ""))
            kind = str(match.lastgroup)
            self._tokens.append(_token(kind, match[kind], match.start(kind)))
            at = match.end()
        self._next = 0

    def disjunction(self, depth: int) -> Node:
        parts = [self._conjunction(depth)]
        while self._take("or"):
            parts.append(self._conjunction(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _conjunction(self, depth: int) -> Node:
        parts = [self._negation(depth)]
        while self._take("and"):
            parts.append(self._negation(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _negation(self, depth: int) -> Node:
        is_negated = False
        while self._take("not"):
            is_negated = not is_negated
        node = self._atom(depth)
        return negated(node) if is_negated else node

    def _atom(self, depth: int) -> Node:
        if not self._take("("):
            return self._predicate()
        if depth == _DEEPEST:
            self._fail(self._peek().at, f"more than {_DEEPEST} parentheses in each other")
        node = self.disjunction(depth + 1)
        self.expect(")", "and, or, or )")
        return node

    def _predicate(self) -> Node:
        at, left = self._peek().at, self._operand("a column")
        if isinstance(left, _Name):
            if self._take("is"):
                out = self._take("not")
                self.expect("null", "null" if out else "null or not null")
                return IsNull(left.name, out, at)
            if self._take("not"):
                self.expect("in", "in")
                return In(left.name, self._values(), True, at)
            if self._take("in"):
                return In(left.name, self._values(), False, at)
        return self._comparison(left, at)

    def _comparison(self, left: _Name | Literal, at: int) -> Node:
        """A comparison, or several in a chain: 0 < x <= 10."""
        parts: list[Node] = []
        while self._peek().kind == "op":
            op = self._advance().text
            right = self._operand("a value or a column")
            parts.append(self._compare(left, _SAME.get(op, op), right, at))
            left = right
        if not parts:
            self._fail(self._peek().at, "expected a comparison, in or is", self._peek())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _compare(self, left: _Name | Literal, op: str, right: _Name | Literal, at: int) -> Node:
        if isinstance(left, _Name):
            if isinstance(right, _Name):
                return Columns(left.name, op, right.name, at)
            return Compare(left.name, op, right, at)
        if not isinstance(right, _Name):
            self._fail(at, "a comparison needs a column; its name is written without quotes")
        return Compare(right.name, _MIRROR[op], left, at)

    def _values(self) -> tuple[Literal, ...]:
        opening = self._peek()
        if not (self._take("(") or self._take("[")):
            self._fail(opening.at, "expected ( and values", opening)
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        self.expect(")" if opening.text == "(" else "]", ", or the end of the values")
        return tuple(values)

    def _value(self) -> Literal:
        at = self._peek()
        value = self._operand("a value")
        if isinstance(value, _Name):
            self._fail(at.at, f"expected a value; a text is in quotes: '{value.name}'")
        return value

    def _operand(self, expected: str) -> _Name | Literal:
        token = self._peek()
        if token.kind == "null":
            self._fail(token.at, "a missing value is tested by is null or is not null")
        if token.kind not in ("name", "number", "text", "true", "false"):
            self._fail(token.at, f"expected {expected}", token)
        self._advance()
        if token.kind == "name":
            return _Name(token.text)
        if token.kind == "number":
            if len(token.text) > _LONGEST:
                self._fail(token.at, f"a number of more than {_LONGEST} digits")
            return _number(token.text)
        return token.text if token.kind == "text" else token.kind == "true"

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _advance(self) -> _Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _take(self, kind: str) -> bool:
        if self._peek().kind != kind:
            return False
        self._next += kind != "end"
        return True

    def expect(self, kind: str, expected: str) -> None:
        token = self._peek()
        if not self._take(kind):
            self._fail(token.at, f"expected {expected}", token)

    def _fail(self, at: int, what: str, token: _Token | None = None) -> NoReturn:
        if token is not None:
            what += ", got the end" if token.kind == "end" else f", got {token.text!r}"
        shown = self._text if len(self._text) <= 200 else self._text[:197] + "..."
        raise WhereError(f"--where {shown!r}: position {at + 1}: {what}")


def _token(kind: str, text: str, at: int) -> _Token:
    if kind in ("text", "quoted"):
        mark = text[0]
        return _Token("name" if mark == "`" else "text", text[1:-1].replace(mark * 2, mark), at)
    if kind == "word":
        word = text.lower()
        return _Token(word if word in _WORDS else "name", text, at)
    return _Token(text if kind == "mark" else kind, text, at)


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else float(text)
