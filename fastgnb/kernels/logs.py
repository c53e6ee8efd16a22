"""Logarithms of parameters, with the same bits on every machine.

The last bits of NumPy's and the C library's logarithms depend on the vector extensions of the
processor and on their versions, and those of NumPy's on the layout of its argument too.

Flags: FMA contraction only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._numba.decorators import jit_helper, readonly, serial_kernel, warmup_call

# Numbers of one part: loops this short stay in the cache, and LLVM makes vectors of them.
_PART = 512
_LEAST_NORMAL = 2.0**-1022
# The bits of sqrt(1 / 2), where the range of mantissas begins.
_ORIGIN = 0x3FE6A09E667F3BCD
_SMALL, _LARGE = 2.0**-500, 2.0**500
_UP, _UP_POWER = 2.0**600, 600.0
_LN_2 = 0.6931471805599453


@jit_helper
def _take_apart(x, scaled, bits, exponent):
    """x = scaled 2**exponent, scaled from sqrt(1/2) to sqrt(2); `bits` are the bits of `scaled`."""
    for i in range(len(x)):
        scaled[i] = x[i] * 2.0**54 if x[i] < _LEAST_NORMAL else x[i]
        exponent[i] = -54.0 if x[i] < _LEAST_NORMAL else 0.0
    for i in range(len(x)):
        power = (bits[i] - _ORIGIN) >> 52
        exponent[i] += power
        bits[i] -= power << 52


@jit_helper
def _log_part(mantissa, exponent, out):
    """fdlibm's logarithm (Sun Microsystems 1993): 2 atanh(f / (2 + f)) as a minimax polynomial."""
    for i in range(len(out)):
        f = mantissa[i] - 1.0
        s = f / (2.0 + f)
        z = s * s
        w = z * z
        even = 0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332)
        odd = 0.1818357216161805012 + w * 0.1479819860511658591
        odd = 0.6666666666666735130 + w * (0.2857142874366239149 + w * odd)
        half = 0.5 * f * f
        rest = s * (half + (z * odd + w * even)) + exponent[i] * 1.90821492927058770002e-10
        out[i] = exponent[i] * 6.93147180369123816490e-01 - ((half - rest) - f)


@jit_helper
def log_all(x, out):
    bits, exponent = np.empty(_PART, np.int64), np.empty(_PART)
    scaled = bits.view(np.float64)
    for a in range(0, len(x), _PART):
        b = min(a + _PART, len(x))
        _take_apart(x[a:b], scaled, bits, exponent)
        _log_part(scaled, exponent, out[a:b])


@serial_kernel
def _log(x, out):
    log_all(x, out)


@jit_helper
def _products(x, product, power):
    """Products of the rows of x (k, d), above 0 and finite, as product 2**power."""
    for c in range(x.shape[0]):
        p, e = 1.0, 0.0
        for j in range(x.shape[1]):
            value = x[c, j]
            # Two numbers in this range have a product that float64 holds with all its digits.
            if not _SMALL < value < _LARGE:
                up = value < 1.0
                value *= _UP if up else 1.0 / _UP
                e -= _UP_POWER if up else -_UP_POWER
            p *= value
            if not _SMALL < p < _LARGE:
                up = p < 1.0
                p *= _UP if up else 1.0 / _UP
                e -= _UP_POWER if up else -_UP_POWER
        product[c], power[c] = p, e


@serial_kernel
def _log_densities(prior, possible, variance, log_prior, log_det):
    k = len(prior)
    product, power = np.empty(k), np.empty(k)
    _products(variance, product, power)
    log_all(product, log_det)
    for c in range(k):
        log_det[c] += power[c] * _LN_2
        product[c] = prior[c] if possible[c] else 1.0
    log_all(product, log_prior)
    for c in range(k):
        if not possible[c]:
            log_prior[c] = -np.inf


def log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of x, above 0 and finite, in C order. Error: below one unit in the last place."""
    out = np.empty(x.size)
    _log(readonly(np.ascontiguousarray(x).reshape(-1)), out)
    return out.reshape(x.shape)


def log_densities(
    prior: NDArray[np.float64], possible: NDArray[np.bool_], variance: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logarithms (k,) of priors, -inf where not possible, and of products of variances (k, d).

    Cost: k d products, and two logarithms a class. Error: absolute d 1e-16.
    """
    k = len(prior)
    log_prior, log_det = np.empty(k), np.empty(k)
    of = np.ascontiguousarray(prior), np.ascontiguousarray(variance)
    _log_densities(readonly(of[0]), possible, readonly(of[1]), log_prior, log_det)
    return log_prior, log_det


@warmup_call
def _warm() -> None:
    one = np.ones(1)
    log(one)
    log_densities(one, one > 0, np.ones((1, 1)))
