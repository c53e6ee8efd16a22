"""Logarithms of parameters, with the same bits wherever they are taken.

NumPy's and the C library's differ in the last bit with the vectors that they find in the processor,
with their versions, and NumPy's with the layout of what it is given.

Flags: FMA contraction only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._jit import example, frozen, helper, serial_kernel

# Numbers that are taken apart together: loops this short stay in the cache, and become vectors.
_PART = 512
_LEAST_NORMAL = 2.0**-1022
# The bits of sqrt(1 / 2), where the range of mantissas begins.
_ORIGIN = 0x3FE6A09E667F3BCD


@helper
def _take_apart(x, scaled, bits, exponent):
    """x = scaled 2**exponent, scaled from sqrt(1/2) to sqrt(2); `bits` are the bits of `scaled`."""
    for i in range(len(x)):
        scaled[i] = x[i] * 2.0**54 if x[i] < _LEAST_NORMAL else x[i]
        exponent[i] = -54.0 if x[i] < _LEAST_NORMAL else 0.0
    for i in range(len(x)):
        power = (bits[i] - _ORIGIN) >> 52
        exponent[i] += power
        bits[i] -= power << 52


@helper
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


@serial_kernel
def _log(x, out):
    bits, exponent = np.empty(_PART, np.int64), np.empty(_PART)
    scaled = bits.view(np.float64)
    for a in range(0, len(x), _PART):
        b = min(a + _PART, len(x))
        _take_apart(x[a:b], scaled, bits, exponent)
        _log_part(scaled, exponent, out[a:b])


def log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of x, above 0 and finite, in C order. Error: below one unit in the last place."""
    out = np.empty(x.size)
    _log(frozen(np.ascontiguousarray(x).reshape(-1)), out)
    return out.reshape(x.shape)


@example
def _every_variant() -> None:
    log(np.ones(1))
