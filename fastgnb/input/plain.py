"""What makes rows and labels plain: kernels take them as they are, and check what is left.

Values that are not finite, and labels that are unknown, are for kernels to find.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["are_plain", "is_plain_table"]

_FLOATS = np.dtype(np.float64), np.dtype(np.float32)


def is_plain_table(X: Any) -> bool:
    """Whether X is an array (n, d) of native float64 or float32, with n and d above 0."""
    return type(X) is np.ndarray and X.dtype in _FLOATS and X.ndim == 2 and X.size > 0


def are_plain(X: Any, y: Any) -> bool:
    """Whether X and y are plain rows and as many plain labels: integers or booleans."""
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iub"):
        return False
    return is_plain_table(X) and len(X) == len(y)
