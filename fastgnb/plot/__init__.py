"""Plots of models, of their assumptions and of their evaluations, by matplotlib.

In: a fitted estimator, statistics, an `Evaluation` or a `Diagnosis`. Out: display objects as
scikit-learn has them: ``from_estimator`` and its relatives compute and draw, ``plot`` draws again,
``ax_`` and ``figure_`` are what was drawn on, and ``frame`` returns the plotted numbers. A
display holds numbers and no rows, but for a bounded sample of them. It computes nothing that other
rooms do not. Needs the extra ``plot``: ``pip install 'fastgnb[plot]'``.

Where to start
    display.py    what all displays share: axes, panels, titles, legends, tables
    palette.py    colors, dashes and markers that bear twenty classes
    arguments.py  models, features, classes and keywords as users give them
    names.py      labels and long names as text, and notes such as "30 of 240 features"
    rows.py       a few columns of rows; histograms.py: how they are distributed
    heat_map.py   tables of numbers as colors; svg.py: a display as SVG text for pages
    density.py    densities of a feature: class_densities.py has the numbers, and
                  density_curves.py draws them
    ellipse.py    densities of two features, drawn by ellipse_curves.py, and regions.py
    axes.py, importance.py, separation.py    other displays of a model
    correlation.py, normality.py             displays of a diagnosis
    evaluated.py  what displays of an `Evaluation` share: confusion_matrix.py, roc_curve.py,
                  precision_recall.py, calibration.py, lift.py, threshold.py

May import: every room but `cli` and `report`. Importing it imports none of its dependencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._system.lazy import lazy_names

_HOMES = {
    "AxesDisplay": "axes",
    "CalibrationDisplay": "calibration",
    "ConfusionMatrixDisplay": "confusion_matrix",
    "CorrelationDisplay": "correlation",
    "DensityDisplay": "density",
    "EllipseDisplay": "ellipse",
    "ImportanceDisplay": "importance",
    "LiftDisplay": "lift",
    "NormalityDisplay": "normality",
    "PrecisionRecallDisplay": "precision_recall",
    "RocCurveDisplay": "roc_curve",
    "SeparationDisplay": "separation",
    "ThresholdDisplay": "threshold",
}

__all__ = [
    "AxesDisplay",
    "CalibrationDisplay",
    "ConfusionMatrixDisplay",
    "CorrelationDisplay",
    "DensityDisplay",
    "EllipseDisplay",
    "ImportanceDisplay",
    "LiftDisplay",
    "NormalityDisplay",
    "PrecisionRecallDisplay",
    "RocCurveDisplay",
    "SeparationDisplay",
    "ThresholdDisplay",
]

if TYPE_CHECKING:
    from .axes import AxesDisplay
    from .calibration import CalibrationDisplay
    from .confusion_matrix import ConfusionMatrixDisplay
    from .correlation import CorrelationDisplay
    from .density import DensityDisplay
    from .ellipse import EllipseDisplay
    from .importance import ImportanceDisplay
    from .lift import LiftDisplay
    from .normality import NormalityDisplay
    from .precision_recall import PrecisionRecallDisplay
    from .roc_curve import RocCurveDisplay
    from .separation import SeparationDisplay
    from .threshold import ThresholdDisplay

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
