"""How good predictions are, as numbers: what an evaluation answers.

The numbers are those of `sklearn.metrics` on the same rows. `evaluator.py` adds the rows up.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .calibration_answers import CalibrationAnswers
from .cutoff_answers import CutoffAnswers
from .plain import evaluation_dict
from .rank_answers import RankAnswers
from .rates import ratio

__all__ = ["Evaluation"]


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation(RankAnswers, CutoffAnswers, CalibrationAnswers):
    """How good predictions are, compared with true labels.

    The labels are those of the model and any others that were met. If rows are weighted, all counts
    below are sums of weights in float64, but for `n_rows` and other names that begin with ``n_``.

    Parameters
    ----------
    labels : ndarray of shape (n_labels,)
        Sorted labels.
    confusion : ndarray of shape (n_labels, n_labels) or None
        Numbers of rows, true labels down and predicted labels across. None if the model has more
        than 2,000 classes. Rows of labels that are not listed are not in it.
    hit : ndarray of shape (n_labels,)
        Rows of each label that are predicted correctly.
    support : ndarray of shape (n_labels,)
        Rows of each label.
    predicted : ndarray of shape (n_labels,)
        Rows that are predicted as each label.
    log_loss : float
        Mean of -log p(true label), with p clipped to [eps, 1 - eps] of its dtype.
    brier : float
        Mean squared error of the probabilities: summed over the labels, and halved for two, so that
        it is within [0, 1], as by ``sklearn.metrics.brier_score_loss``.
    n_unseen : int, default=0
        Rows of labels that the model does not know. They are wrong, whatever is predicted.
    n_unlisted : int, default=0
        Those of them whose labels are not among ``labels``, which lists the first 100 such labels.
    n_skipped : int, default=0
        Rows besides these that were left out because the model cannot take their values.
    n_null_labels : int, default=0
        Rows besides these that were left out because they have no label.
    total_rows : int, default=None
        Number of rows, if they are weighted.
    total_weight : float, default=None
        Weight of all rows, if they are weighted.
    curves : Curves, default=None
        Rows in the order of their log odds: all of them, or histograms.
    cells : Cells, default=None
        Sums over rows between cut-offs of the probability.
    rank_weight : ndarray of shape (n_classes,), default=None
        Rows whose label is the most probable class, the second, and so on.
    thresholds : tuple of float, default=()
        Cut-offs that were asked for.

    Attributes
    ----------
    n_rows : int
        Rows of all labels.
    weight : float
        Weight of the rows of all labels: their number, unless they are weighted.
    accuracy : float
        Share of the rows that are predicted correctly.
    mcc : float
        Matthews' correlation coefficient of true and predicted labels.
    prediction_rate : ndarray of shape (n_labels,)
        Share of the rows that are predicted as each label.
    tpr : ndarray of shape (n_labels,)
        True positive rate (recall, sensitivity) of each label against the rest; here and below, 0
        where it is undefined.
    fpr : ndarray of shape (n_labels,)
        False positive rate (1 - specificity).
    ppv : ndarray of shape (n_labels,)
        Positive predictive value (precision).
    npv : ndarray of shape (n_labels,)
        Negative predictive value.
    f1 : ndarray of shape (n_labels,)
        Harmonic mean of precision and recall.

    See Also
    --------
    fastgnb.evaluate : Compare predictions for arrays and data frames with their labels.
    fastgnb.files.evaluate : Compare predictions for the rows of files with their labels.

    Notes
    -----
    The numbers are those of ``sklearn.metrics`` on the same rows, with log odds as scores. Numbers
    that depend on the order of rows are an `Interval`: exact if all rows were kept, and else bounds
    from histograms of the log odds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB, evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> found = evaluate(GaussianNB().fit(X, y), X, y)
    >>> found.confusion.tolist()
    [[50, 0, 0], [0, 47, 3], [0, 3, 47]]
    >>> round(found.auc(2).value, 4)
    0.9924
    >>> round(found.rates(0.9, label=2).ppv.value, 4)
    0.9767
    """

    @property
    def accuracy(self) -> float:
        """Share of the rows that are predicted correctly."""
        return float(self.hit.sum() / self.weight)

    @property
    def mcc(self) -> float:
        """Matthews' correlation coefficient of true and predicted labels, from -1 to 1.

        It is 0 if all rows have one label, or are predicted as one. Labels that are not listed
        count as one label.
        """
        hit, predicted = self.hit / self.weight, self.predicted / self.weight
        unlisted = max(0.0, 1.0 - float(self.support.sum()) / self.weight)
        support = np.append(self.support / self.weight, unlisted if self.n_unlisted else 0.0)
        both = float(np.sum(hit) - np.sum(support[:-1] * predicted))
        spread = float(np.sum(support * (1 - support)) * np.sum(predicted * (1 - predicted)))
        return both / math.sqrt(spread) if spread > 0 else 0.0

    @property
    def prediction_rate(self) -> NDArray[np.float64]:
        """Share of the rows that are predicted as each label."""
        return np.asarray(self.predicted / self.weight)

    @property
    def tpr(self) -> NDArray[np.float64]:
        """True positive rate of each label: recall, sensitivity."""
        return np.asarray(ratio(self.hit, self.support))

    @property
    def fpr(self) -> NDArray[np.float64]:
        """False positive rate of each label: 1 - specificity."""
        return np.asarray(ratio(self.predicted - self.hit, self.weight - self.support))

    @property
    def ppv(self) -> NDArray[np.float64]:
        """Positive predictive value of each label: precision."""
        return np.asarray(ratio(self.hit, self.predicted))

    @property
    def npv(self) -> NDArray[np.float64]:
        """Negative predictive value of each label."""
        neither = self.weight - self.support - self.predicted + self.hit
        return np.asarray(ratio(neither, self.weight - self.predicted))

    @property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall of each label."""
        return np.asarray(ratio(2 * self.hit, self.support + self.predicted))

    def as_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON.

        Returns
        -------
        dict
            Every number, with the names that ``fastgnb evaluate --json`` writes. What is undefined
            is None. Curves have at most a few hundred points.
        """
        return evaluation_dict(self)
