"""Models and rows that tests of displays share."""

from __future__ import annotations

from typing import Any

import numpy as np

LONG = "a rather long name of a sensor of the second line, number {}, in millimetres"


def blobs(k: int, d: int, n: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of k normal classes with covariances of their own: (k n, d), and labels."""
    rng = np.random.default_rng([seed, k, d])
    y = np.repeat(np.arange(k), n)
    mix = np.eye(d) * rng.uniform(0.4, 1.5, (k, 1, 1)) + 0.3 * rng.normal(size=(k, d, d)) / d**0.5
    X = np.einsum("nd,nde->ne", rng.normal(size=(k * n, d)), mix[y])
    return X + 2.0 * rng.normal(size=(k, d))[y], y


def named(model: Any, names: list[str]) -> Any:
    """The model with these names of its features."""
    import dataclasses

    return model.fit_stats(dataclasses.replace(model.stats_, feature_names=tuple(names)))


def texts_of(ax: Any) -> list[str]:
    """Every text in axes: title, labels, ticks, legend and notes."""
    from matplotlib.text import Text

    return [text.get_text() for text in ax.findobj(Text) if text.get_text() and text.get_visible()]


def note_of(ax: Any) -> str:
    """The note under the title."""
    from matplotlib.text import Annotation

    notes = [text.get_text() for text in ax.texts if isinstance(text, Annotation)]
    return notes[0] if notes else ""
