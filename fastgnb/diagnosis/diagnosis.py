"""Whether the assumptions of a model hold: the result of `fastgnb.diagnose`."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..stats.pooling import shares
from .candidates import Candidate
from .dependence import Copy, pair_nats
from .normality import NORMAL_BEYOND_3SD, quantiles

__all__ = ["QQ", "Diagnosis", "Pair"]

Floats = NDArray[np.float64]


class QQ(NamedTuple):
    """Quantiles of a feature within a class beside those of a normal distribution.

    Parameters
    ----------
    theoretical : ndarray of shape (m,)
        Quantiles of the standard normal distribution, rising.
    empirical : ndarray of shape (m,)
        Those of the rows, in their own standard deviations from their own mean. The points of
        normal rows lie on the diagonal.
    """

    theoretical: Floats
    empirical: Floats


class Pair(NamedTuple):
    """Two features that depend on each other within classes.

    Parameters
    ----------
    first, second : str
        Their names.
    correlation : float
        Their pooled correlation within classes.
    nats : float
        What they share, -1/2 log(1 - r^2), in nats per row: a mean over classes, by weight.
    """

    first: str
    second: str
    correlation: float
    nats: float


@dataclasses.dataclass(frozen=True, eq=False)
class Diagnosis:
    """Whether rows are as a model assumes: normal, and independent within classes.

    Arrays are over k classes and d continuous features. What is undefined is NaN: without rows, for
    constants, and with too few rows.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        Labels of the model.
    feature_names : tuple of str of length d
        Names of the continuous features; "feature 0" and so on if the model has none.
    n_rows : int
        Rows that were looked at: those of labels that the model knows, and of weight above 0.
    class_rows : ndarray of shape (k,)
        Rows of each class.
    class_weight : ndarray of shape (k,)
        Weight of each class.
    mean_z : ndarray of shape (k, d)
        Mean of z = (x - mean) / sd, with the model's mean and sd of the class: 0 where the rows are
        as the model has learned.
    sd_z : ndarray of shape (k, d)
        Standard deviation of z: 1 where the rows are as the model has learned. It is below 1 where
        smoothing or sharing makes the model's variance too large.
    skewness : ndarray of shape (k, d)
        Skewness about the rows' own mean; 0 for a normal distribution.
    excess_kurtosis : ndarray of shape (k, d)
        Kurtosis less 3, about the rows' own mean; 0 for a normal distribution.
    beyond_3sd : ndarray of shape (k, d)
        Share of the rows whose z is 3 or more away from 0; see ``normal_beyond_3sd``.
    kolmogorov : ndarray of shape (k, d)
        Largest difference, at the edges of the bins, between the distribution function of the rows
        and that of the normal distribution with their mean and variance.
    negentropy : ndarray of shape (k, d)
        Kullback-Leibler divergence of the rows from that normal distribution, in nats per row, over
        groups of bins into which it puts at least five rows, less what chance adds, and never below
        0.
    feature_negentropy : ndarray of shape (d,)
        Its mean over classes, by weight: what a row's log density loses in each feature.
    p_value : ndarray of shape (d,)
        p-value of each feature's normality in all classes, by a G-test over these groups. It says
        whether an effect is more than chance, and not how large it is.
    z_edges : ndarray of shape (n_bins + 1,)
        Edges of the bins of z, of which the outermost are infinite.
    z_counts : ndarray of shape (k, d, n_bins)
        Weight of the rows in each bin.
    correlation : ndarray of shape (k, d, d) or None
        Correlations within each class, 0 beside a constant. None where ``no_pairs`` says why.
    pooled_correlation : ndarray of shape (d, d) or None
        Correlations of the scatter pooled over classes.
    total_correlation : ndarray of shape (k,)
        What the features of a class share, -1/2 log det R of its correlations R, in nats per row,
        less what chance adds: what a model of independent features leaves out.
    total_by_chance : ndarray of shape (k,)
        What was subtracted: the mean of independent features, about d (d - 1) / (4 n).
    total_noise : ndarray of shape (k,)
        Its standard deviation.
    is_bound : ndarray of shape (k,), bool
        Whether R is singular, so that the total correlation is at least so much.
    constant : ndarray of shape (k, d), bool
        Which features do not vary within a class.
    copies : tuple of Copy
        Features that other features determine within all classes.
    n_whole_rows : int
        Rows without missing values, of which correlations and candidates are made.
    no_pairs : str
        Why there are no correlations; empty where there are.
    candidates : tuple of Candidate
        Log loss of the model, which comes first, and of others of the same statistics, on rows that
        they have not learned.
    candidates_from : str
        Which statistics those are of, and which rows were scored; or why there are no candidates.
    findings : tuple of str
        What is wrong, one sentence each.
    suggestion : str
        What to do about it, in one sentence.
    n_unknown : int, default=0
        Rows that were left out because the model does not know their labels.
    n_skipped : int, default=0
        Rows that were left out because the model cannot take their values.
    n_null_labels : int, default=0
        Rows that were left out because they have no label.

    Attributes
    ----------
    normal_beyond_3sd : float
        What ``beyond_3sd`` is for a normal distribution.
    dependence : float
        Mean of ``total_correlation`` over the classes where it is defined, by weight.
    ranking : ndarray of shape (d,)
        Positions of the features, those whose normality fails most first.

    See Also
    --------
    fastgnb.diagnose : Diagnose a model on arrays.
    fastgnb.files.diagnose : Diagnose a model on files.

    Examples
    --------
    >>> import numpy as np
    >>> from fastgnb import GaussianNB, diagnose
    >>> X = np.random.default_rng(0).exponential(size=(1000, 2))
    >>> y = np.repeat([0, 1], 500)
    >>> found = diagnose(GaussianNB().fit(X, y), X, y)
    >>> found.skewness.round(1).min() > 1
    np.True_
    """

    classes: NDArray[Any]
    feature_names: tuple[str, ...]
    n_rows: int
    class_rows: NDArray[np.int64]
    class_weight: Floats
    mean_z: Floats
    sd_z: Floats
    skewness: Floats
    excess_kurtosis: Floats
    beyond_3sd: Floats
    kolmogorov: Floats
    negentropy: Floats
    feature_negentropy: Floats
    p_value: Floats
    z_edges: Floats
    z_counts: Floats
    correlation: Floats | None
    pooled_correlation: Floats | None
    total_correlation: Floats
    total_by_chance: Floats
    total_noise: Floats
    is_bound: NDArray[np.bool_]
    constant: NDArray[np.bool_]
    copies: tuple[Copy, ...]
    n_whole_rows: int
    no_pairs: str
    candidates: tuple[Candidate, ...] = ()
    candidates_from: str = ""
    findings: tuple[str, ...] = ()
    suggestion: str = ""
    n_unknown: int = 0
    n_skipped: int = 0
    n_null_labels: int = 0

    @property
    def normal_beyond_3sd(self) -> float:
        """The share of a normal distribution beyond three standard deviations."""
        return NORMAL_BEYOND_3SD

    @property
    def dependence(self) -> float:
        """Mean total correlation, in nats per row; NaN where no class has rows enough."""
        known = np.isfinite(self.total_correlation)
        if not known.any():
            return float("nan")
        return float(shares(self.class_weight[known]) @ self.total_correlation[known])

    @property
    def ranking(self) -> NDArray[np.intp]:
        """Positions (d,) of the features, those whose normality fails most first."""
        return np.argsort(-np.nan_to_num(self.feature_negentropy), kind="stable")

    def qq(self, label: Any, feature: Any) -> QQ:
        """Compare quantiles of a feature within a class with those of a normal distribution.

        Parameters
        ----------
        label : label
            A class of the model.
        feature : str or int
            A feature, by name or position.

        Returns
        -------
        QQ
            A point for each bin that has rows, at its middle; none for constants.

        Raises
        ------
        ValueError
            If there is no such class or feature.
        """
        c, j = self._class_at(label), self._feature_at(feature)
        counts, sd = self.z_counts[c, j], float(self.sd_z[c, j])
        if not sd > 0:
            return QQ(np.empty(0), np.empty(0))
        return QQ(*quantiles(counts, float(self.mean_z[c, j]), sd))

    def pairs(self, n: int = 10) -> list[Pair]:
        """Return the pairs of features that share most within classes.

        Parameters
        ----------
        n : int, default=10
            Most pairs.

        Returns
        -------
        list of Pair
            Those that share most first.

        Raises
        ------
        ValueError
            If there are no correlations; the message says why. If n is not a whole number, 0 or
            more.
        """
        is_whole = hasattr(n, "__index__") and not isinstance(n, bool)
        if not is_whole or n < 0:
            raise ValueError(f"n must be a whole number, 0 or more, got {n!r}.")
        if self.correlation is None or self.pooled_correlation is None:
            raise ValueError(f"There are no correlations: {self.no_pairs}.")
        nats = pair_nats(self.correlation, self.class_weight)
        first, second = np.triu_indices(len(nats), 1)
        order = np.argsort(-nats[first, second], kind="stable")[:n]
        names = self.feature_names
        return [
            Pair(names[i], names[j], float(self.pooled_correlation[i, j]), float(nats[i, j]))
            for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON.

        Returns
        -------
        dict
            Every number but ``z_edges`` and ``z_counts``, with the names that
            ``fastgnb diagnose --json`` writes. None stands for NaN.
        """
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name in ("z_counts", "z_edges"):
            del fields[name]
        fields["copies"] = [
            {"feature": names[0], "of": names[1]} for names in map(self._copy_names, self.copies)
        ]
        fields["candidates"] = [each._asdict() for each in self.candidates]
        fields["dependence"] = self.dependence
        fields["normal_beyond_3sd"] = self.normal_beyond_3sd
        return {name: _plain(value) for name, value in fields.items()}

    def _copy_names(self, copy: Copy) -> tuple[str, str | None]:
        return self.feature_names[copy.feature], (
            self.feature_names[copy.of] if copy.of >= 0 else None
        )

    def _class_at(self, label: Any) -> int:
        found = [c for c, each in enumerate(self.classes.tolist()) if each == label]
        if not found:
            raise ValueError(f"Expected one of the classes {self.classes}, got {label!r}.")
        return found[0]

    def _feature_at(self, feature: Any) -> int:
        if isinstance(feature, str) and feature in self.feature_names:
            return self.feature_names.index(feature)
        is_whole = hasattr(feature, "__index__") and not isinstance(feature, bool)
        if is_whole and 0 <= feature < len(self.feature_names):
            return int(feature)
        raise ValueError(
            f"Expected one of {len(self.feature_names)} features, by name or position, got "
            f"{feature!r}."
        )


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return None if isinstance(value, float) and not np.isfinite(value) else value
