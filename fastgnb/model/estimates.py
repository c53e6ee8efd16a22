"""Fitted attributes that are estimated when one of them is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .likelihood import Likelihood

__all__ = ["Estimates"]


class Estimates(Mapping[str, Any]):
    """What `Likelihood.estimate` returns for statistics and options, once it is asked for.

    A stream of chunks is estimated when something is asked of it, and not at each chunk. The
    options are known to fit the statistics: see `Likelihood.can_wait`.
    """

    def __init__(self, likelihood: Likelihood, stats: Any, options: Mapping[str, Any]) -> None:
        self._likelihood, self._stats, self._options = likelihood, stats, options

    def _estimated(self) -> dict[str, Any]:
        kept: dict[str, Any] | None = self.__dict__.get("_kept")
        if kept is None:
            made = self._likelihood.estimate(self._stats, **self._options)
            kept = self.__dict__.setdefault("_kept", made)
        return kept

    def __getitem__(self, name: str) -> Any:
        return self._estimated()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._estimated())

    def __len__(self) -> int:
        return len(self._estimated())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._estimated(),)
