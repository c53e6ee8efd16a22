"""How far figures vary without a cause, and which changes are larger than that.

Ratios of times vary by a factor, so noise is a standard deviation of the logarithm: 0.05 is about
5%. It has two sources. Within a run, the rounds differ: `within` measures the standard error of the
median. Between runs of one machine, memory layout, clock rates and neighbours differ: `between`
measures that from the changes of successive runs. Both are medians of absolute deviations, which a
few outliers and a few real changes do not move.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["FLOOR", "LIMIT", "MIN_CHANGES", "MIN_ROUNDS", "Change", "between", "change"]
__all__ += ["combine", "within"]

LIMIT = 3.0
"""A change counts from this many standard deviations on."""

FLOOR = 0.01
"""Least noise of a ratio: clocks and medians of few rounds do not resolve less."""

MIN_ROUNDS, MIN_CHANGES = 3, 5
"""From how many rounds, and changes between runs, noise can be told."""

_SIGMA = 1.482602218505602  # of a normal distribution, over its median absolute deviation


class Change(NamedTuple):
    """What happened to a ratio between two runs.

    Attributes
    ----------
    factor : the later ratio over the earlier one.
    limit : the least factor above 1 that counts as a change; None where noise is not known.
    direction : 1 above the noise, -1 below it, 0 within it or where noise is not known.
    """

    factor: float
    limit: float | None
    direction: int

    @property
    def size(self) -> float:
        """The logarithm of the factor, in units of its limit where that is known."""
        return abs(math.log(self.factor)) / (1.0 if self.limit is None else math.log(self.limit))


def within(ours: Sequence[float], theirs: Sequence[float] | None = None) -> float | None:
    """Noise of the median of rounds, or of the ratio of two medians.

    Parameters
    ----------
    ours : seconds of each round.
    theirs : seconds of another program in the same rounds. Rounds are paired, so that what slows
        both does not count. The program whose budget ends first has fewer rounds.

    Returns
    -------
    float or None
        The standard error of the median of the logarithms; None below `MIN_ROUNDS` rounds.
    """
    if theirs is None:
        logs = [math.log(seconds) for seconds in ours]
    else:
        pairs = zip(ours, theirs, strict=False)
        logs = [math.log(theirs) - math.log(ours) for ours, theirs in pairs]
    if len(logs) < MIN_ROUNDS:
        return None
    middle = statistics.median(logs)
    deviation = statistics.median(abs(value - middle) for value in logs)
    return _SIGMA * deviation * math.sqrt(math.pi / 2 / len(logs))


def between(series: Sequence[Sequence[float]]) -> float | None:
    """Noise between runs, from ratios in the order of runs of one machine.

    Parameters
    ----------
    series : one sequence of ratios, or several whose noise is taken to be the same.

    Returns
    -------
    float or None
        None below `MIN_CHANGES` changes. Changes of successive runs are used, and their median, so
        that a lasting change of the ratio counts once among many.
    """
    changes = [
        abs(math.log(after / before))
        for ratios in series
        for before, after in itertools.pairwise(ratios)
    ]
    if len(changes) < MIN_CHANGES:
        return None
    return _SIGMA * statistics.median(changes) / math.sqrt(2)


def combine(*noises: float | None) -> float | None:
    """The largest noise that is known, and at least `FLOOR`; None where none is.

    Noise between runs contains that within them, so they are not added.
    """
    known = [noise for noise in noises if noise is not None]
    return max([FLOOR, *known]) if known else None


def change(
    before: float, after: float, noise_before: float | None, noise_after: float | None
) -> Change:
    """Compare a ratio of two runs, each with its noise."""
    factor = after / before
    if noise_before is None or noise_after is None:
        return Change(factor, None, 0)
    limit = math.exp(LIMIT * math.hypot(noise_before, noise_after))
    return Change(factor, limit, (factor > limit) - (factor < 1 / limit))
