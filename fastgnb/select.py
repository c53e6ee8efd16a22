"""Model selection from statistics of folds: `StatsGridSearchCV`, and cross-validation."""

from .estimators.cross_val_predict import cross_val_predict
from .estimators.cross_validation import cross_validate
from .estimators.selection import StatsGridSearchCV

__all__ = ["StatsGridSearchCV", "cross_val_predict", "cross_validate"]
