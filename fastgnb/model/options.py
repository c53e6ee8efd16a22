"""Options of the members: each is declared once, and everything else is derived from that.

An `Option` has a name, a default, the values that it may take and a line of help. The parameter
constraints of scikit-learn, the options of the command line, the checks of model files and the
table in the README are made from these. NumPy is not imported here, so that `fastgnb --help` is
quick; what a check needs beyond this file is imported when the check runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

__all__ = ["ArrayLike", "Flag", "Nothing", "Number", "OneOf", "Option", "Values", "Whole", "Words"]


class Values:
    """Some of the values that an option may take. `str()` says which, for error messages."""

    def __contains__(self, value: object) -> bool:
        raise NotImplementedError


@dataclass(frozen=True)
class Nothing(Values):
    """None. `meaning` says what it stands for; `word` is how the command line says it."""

    meaning: str = ""
    word: str | None = None

    def __contains__(self, value: object) -> bool:
        return value is None

    def __str__(self) -> str:
        return "None"


@dataclass(frozen=True)
class Words(Values):
    """One of some words."""

    words: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and value in self.words

    def __str__(self) -> str:
        return repr(self.words[0]) if len(self.words) == 1 else f"one of {sorted(self.words)}"


@dataclass(frozen=True)
class Flag(Values):
    """True or False."""

    def __contains__(self, value: object) -> bool:
        return type(value).__name__ in ("bool", "bool_")  # Python's and NumPy's

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class OneOf(Values):
    """One of some consecutive integers."""

    numbers: tuple[int, ...]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, Real) and value not in Flag() and value in self.numbers

    def __str__(self) -> str:
        return " or ".join(map(str, self.numbers))


@dataclass(frozen=True)
class Whole(Values):
    """An integer from `low` up."""

    low: int

    def __contains__(self, value: object) -> bool:
        is_whole = isinstance(value, Integral) and value not in Flag()
        return is_whole and int(value) >= self.low  # type: ignore[call-overload]

    def __str__(self) -> str:
        return f"a whole number from {self.low} up"


@dataclass(frozen=True)
class Number(Values):
    """A finite number from `low` to `high`; with `is_open`, strictly between them."""

    low: float
    high: float = math.inf
    is_open: bool = False
    takes_bool: bool = False

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Real) or (not self.takes_bool and value in Flag()):
            return False
        try:
            number = float(value)
        except (OverflowError, TypeError):  # huge whole numbers, NumPy's time spans
            return False
        if self.is_open:
            return self.low < number < self.high
        return self.low <= number <= self.high and number < math.inf

    def __str__(self) -> str:
        if self.is_open:
            return f"a number between {self.low:g} and {self.high:g}"
        upper = "up" if self.high == math.inf else f"to {self.high:g}"
        return f"a number from {self.low:g} {upper}".replace(" to up", " up")


@dataclass(frozen=True)
class ArrayLike(Values):
    """A list or an array; the option's `check` decides which are valid."""

    def __contains__(self, value: object) -> bool:
        return True

    def __str__(self) -> str:
        return "array-like"


@dataclass(frozen=True)
class Option:
    """One constructor parameter of some members.

    Parameters
    ----------
    name : str
    default : object
    values : tuple of Values
        What it may be, in the order in which scikit-learn names it.
    help : str
        One line.
    rule : callable, default=None
        Raises ValueError or TypeError for values that are wrong, in the place of `values`.
    is_learned : bool, default=False
        Whether it decides which statistics are learned: it cannot change without the rows.
    is_list : bool, default=False
        Whether it may be a list in a model file.
    metavar : str, default=None
        What stands for its value on the command line.
    flag : str, default=None
        Its name on the command line, where that is not its own.
    since : int, default=2
        The schema of model files that has it first.
    before : object, default=None
        What it is in model files of earlier schemas.
    """

    name: str
    default: Any
    values: tuple[Values, ...]
    help: str
    rule: Callable[[Any], object] | None = None
    is_learned: bool = False
    is_list: bool = False
    metavar: str | None = None
    flag: str | None = None
    since: int = 2
    before: Any = None

    def check(self, value: Any) -> None:
        """Raise ValueError or TypeError if the option may not have this value."""
        if self.rule is not None:
            self.rule(value)
        elif not any(value in each for each in self.values):
            raise ValueError(f"{self.name} must be {self.expected()}, got {value!r:.80}.")

    def expected(self) -> str:
        """What the option may be, in words."""
        parts = sorted(map(str, self.values), key=lambda text: text != "None")
        if len(parts) < 3:
            return " or ".join(parts)
        return f"{', '.join(parts[:-1])}, or {parts[-1]}"

    def nothing(self) -> Nothing | None:
        """The `Nothing` among its values."""
        return next((each for each in self.values if isinstance(each, Nothing)), None)

    @property
    def option_string(self) -> str:
        """Its name on the command line, such as "--reg-param"."""
        return "--" + (self.flag or self.name).replace("_", "-")
