"""Logarithms of parameters, whose bits are the C library's.

NumPy's differ in the last bit with the vectors that it finds in the processor, and with the layout
of what it is given.

Flags: FMA contraction only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._jit import example, frozen, serial_kernel

# Products of two numbers between these are normal.
_SMALL, _LARGE = 2.0**-500, 2.0**500


@serial_kernel
def _log_each(x, out):
    for i in range(len(x)):
        out[i] = np.log(x[i]) if x[i] > 0.0 else -np.inf


@serial_kernel
def _log_products(x, out):
    """Logarithms of whole products, as far as float64 holds them, which are few and exact."""
    for c in range(x.shape[0]):
        total, product = 0.0, 1.0
        for j in range(x.shape[1]):
            value = x[c, j]
            if _SMALL < value < _LARGE:
                product *= value
            else:
                total += np.log(value)
            if not _SMALL < product < _LARGE:
                total += np.log(product)
                product = 1.0
        out[c] = total + np.log(product)


def log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of x, of its shape; -inf where x is not above 0."""
    out = np.empty(x.size)
    _log_each(frozen(np.ascontiguousarray(x).reshape(-1)), out)
    return out.reshape(x.shape)


def sum_of_logs(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums (k,) of the logarithms of x (k, d), above 0 and finite. Error: d units of 1e-16."""
    out = np.empty(len(x))
    _log_products(frozen(np.ascontiguousarray(x)), out)
    return out


@example
def _every_variant() -> None:
    log(np.ones(1))
    sum_of_logs(np.ones((1, 1)))
