"""Sums with twice the digits of float64: a number is an unevaluated sum of a high and a low word.

The functions take numbers in kernels, and numbers or arrays in Python.

Flags: FMA contraction only. The sums must not be reassociated.
"""

from __future__ import annotations

from ..._numba.decorators import jitable


@jitable
def two_sum(a, b):
    """The rounded sum of a and b, and its exact error (Knuth 1969)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@jitable
def two_difference(a, b):
    """As `two_sum` of a and -b."""
    total = a - b
    part = total - a
    return total, (a - (total - part)) - (b + part)


@jitable
def difference(high, low, base, base_low):
    """(high + low) - (base + base_low), rounded about once."""
    step, error = two_difference(high, base)
    return step + (error + (low - base_low))
