"""Model selection from statistics of folds: `StatsGridSearchCV` and `cross_validate`."""

from .estimators.cross_validation import cross_validate
from .estimators.selection import StatsGridSearchCV

__all__ = ["StatsGridSearchCV", "cross_validate"]
