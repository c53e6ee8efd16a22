"""Labels and weights that stand beside rows."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .labels import Labels, as_labels, classes_of, encode_labels, locate_labels
from .rows import check_lengths
from .weights import check_weight


def encode_targets(
    rows: Sized, y: Any, sample_weight: Any, classes: Any
) -> tuple[Labels, NDArray[np.float64] | None]:
    """Labels y and weights of rows, as codes and float64. classes: those allowed; None: any.

    Raises ValueError and TypeError, as checks of labels, of weights and of lengths do.
    """
    labels = as_labels(y)
    check_lengths(rows, labels)
    weight = check_weight(sample_weight, len(rows))
    encoded = encode_labels(labels)
    if classes is not None:
        encoded = locate_labels(encoded, classes_of(classes))
    return encoded, weight
