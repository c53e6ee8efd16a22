"""The registry of the family: each member, with its options and what it needs, declared once.

A `Member` says how its model is estimated (its `likelihood`, imported on first use), which
statistics it learns, and what its options are. Estimators, model files, the command line and the
table in the README are derived from it, and nothing else compares the name of a member. `register`
adds a member. NumPy is not imported here: the command line reads the registry before it knows its
command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .options import (
    ArrayLike,
    Flag,
    Nothing,
    Number,
    OneOf,
    Option,
    Whole,
    Words,
)

if TYPE_CHECKING:
    from .likelihood import Likelihood

__all__ = [
    "DDOF",
    "MEMBERS",
    "MISSING",
    "PRIORS",
    "TIED",
    "Member",
    "all_options",
    "covariance_type",
    "default_member",
    "markdown_table",
    "members_with",
    "options_of",
    "register",
    "unregister",
    "var_smoothing",
]


@dataclass(frozen=True, eq=False)
class Member:
    """A member of the family.

    Parameters
    ----------
    name : str
        That of its estimator, of the command line and of model files.
    summary : str
        What it is, in a line.
    options : tuple of Option
        Every constructor parameter, in the order of the signature.
    load_likelihood : callable
        Returns its `Likelihood`; it imports what that needs.
    needs_full_scatter : bool, default=False
        Whether its statistics need full scatter.
    takes_categories : bool, default=False
        Whether its statistics are `MixedStats`.
    stores_edits : bool, default=False
        Whether a model file holds its fitted attributes, edited or not. Those of other members are
        estimated again when a file is loaded.
    label : str, default=None
        How `fastgnb show` calls it; None: its name.
    compares_features : callable, default=None
        From options to what to do about features of different units, or None where these do not
        matter.
    alternatives : tuple of dict, default=()
        Options of the models of it that `fastgnb.diagnose` tries on statistics of continuous
        features, each besides the defaults. Of models that do as well, it takes the first.
    estimated : tuple of str, default=()
        The fitted attributes, if an estimator may wait with them until one is read. (): it sets
        them when it learns.
    """

    name: str
    summary: str
    options: tuple[Option, ...]
    load_likelihood: Callable[[], Likelihood]
    needs_full_scatter: bool = False
    takes_categories: bool = False
    stores_edits: bool = False
    label: str | None = None
    compares_features: Callable[[Mapping[str, Any]], str | None] | None = None
    alternatives: tuple[Mapping[str, Any], ...] = ()
    estimated: tuple[str, ...] = ()

    @property
    def likelihood(self) -> Likelihood:
        """How its parameters come from statistics."""
        kept = self.__dict__.get("_likelihood")
        if kept is None:
            kept = self.__dict__["_likelihood"] = self.load_likelihood()
        return kept

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of every option."""
        return {option.name: option.default for option in self.options}

    def option(self, name: str) -> Option:
        """Return an option by name. Raises KeyError if the member lacks it."""
        return {option.name: option for option in self.options}[name]

    def has(self, name: str) -> bool:
        """Whether it has an option of this name."""
        return any(option.name == name for option in self.options)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise ValueError or TypeError for invalid values of options."""
        for option in self.options:
            if option.name in options:
                option.check(options[option.name])


def _check_priors(priors: Any) -> None:
    from ..estimate.options import as_priors

    if priors is not None:
        as_priors(priors)


def _check_smoothing(value: Any) -> None:
    from ..estimate.options import check_smoothing

    check_smoothing(value)


def _check_missing(missing: Any) -> None:
    from ..input.rows import check_missing

    check_missing(missing)


def _check_categorical_features(value: Any) -> None:
    from ..estimate.options import check_categorical_spec

    check_categorical_spec(value)


def _check_min_categories(value: Any) -> None:
    from ..estimate.options import check_min_categories

    check_min_categories(value, None)


PRIORS = Option(
    "priors", None, (ArrayLike(), Nothing("the classes' shares of the weight", "data")),
    "prior probabilities of the classes, in their sorted order", _check_priors,
    is_list=True, metavar="P,P",
)  # fmt: skip

MISSING = Option(
    "missing", "error", (Words(("error", "skip")),),
    "missing values; skip: leave each out of its own feature", _check_missing, is_learned=True,
)  # fmt: skip

TIED = Option("tied", False, (Flag(),), "pool over classes")

DDOF = Option("ddof", 0, (OneOf((0, 1)),), "what is subtracted from the weight that divides")


def var_smoothing(default: float = 1e-9) -> Option:
    """The option `var_smoothing`, with another default."""
    return Option(
        "var_smoothing", default, (Number(0, takes_bool=True),),
        "share of the largest variance that is added to each variance", _check_smoothing,
        metavar="F",
    )  # fmt: skip


def covariance_type(*kinds: str) -> Option:
    """The option `covariance_type`, whose default is the first of the kinds."""
    return Option("covariance_type", kinds[0], (Words(kinds),), "which variances there are")


def _units_of_shared(options: Mapping[str, Any]) -> str | None:
    if options.get("covariance_type") == "spherical":
        return "Scale the features first, or take --covariance-type diag"
    if options.get("shrinkage") is not None and options.get("shrinkage_target") == "spherical":
        return "Take --shrinkage-target diagonal"
    return None


def _units_of_axes(options: Mapping[str, Any]) -> str | None:
    return None if options.get("standardize") else "Take --standardize"


def _diagonal() -> Likelihood:
    from .diagonal import DiagonalLikelihood

    return DiagonalLikelihood()


def _full() -> Likelihood:
    from .full import FullLikelihood

    return FullLikelihood()


def _axes() -> Likelihood:
    from .axes import AxesLikelihood

    return AxesLikelihood()


def _mixed() -> Likelihood:
    from .mixed import MixedLikelihood

    return MixedLikelihood()


GAUSSIAN_NB = Member(
    "GaussianNB", "naive Bayes of normal features",
    (PRIORS, var_smoothing(), MISSING, covariance_type("diag", "spherical"), TIED, DDOF),
    _diagonal, stores_edits=True, label="Gaussian naive Bayes",
    compares_features=_units_of_shared, alternatives=({}, {"tied": True}),
    estimated=("class_prior_", "theta_", "var_", "epsilon_"),
)  # fmt: skip

GAUSSIAN_BAYES = Member(
    "GaussianBayes", "discriminant analysis, quadratic or (tied) linear",
    (
        covariance_type("full", "diag", "spherical"), TIED, DDOF, PRIORS,
        Option("reg_param", 0.0, (Number(0, 1),), "share of the identity in each covariance",
               metavar="F"),
        Option("shrinkage", None, (Words(("oas",)), Number(0, 1), Nothing("no shrinkage", "none")),
               "share of the target in each class's covariance", metavar="F|oas|none"),
        Option("shrinkage_target", "diagonal", (Words(("diagonal", "spherical")),),
               "shrink towards each class's variances, or their mean", since=3, before="spherical"),
        var_smoothing(0.0),
    ),
    _full, needs_full_scatter=True, compares_features=_units_of_shared,
    alternatives=({"tied": True}, {}),
    estimated=("class_prior_", "means_", "covariance_", "epsilon_"),
)  # fmt: skip

PCA_GAUSSIAN_NB = Member(
    "PCAGaussianNB", "naive Bayes along principal axes",
    (
        Option("n_components", None,
               (Whole(1), Number(0, 1, is_open=True), Nothing("all along which rows vary", "all")),
               "axes to keep; below 1: as few as have that share of the variance",
               metavar="N|F|all"),
        Option("rotation", "total", (Words(("total", "within", "class")),),
               "whose axes: of all rows, of the scatter within classes, or of each class"),
        Option("standardize", False, (Flag(),),
               "divide features by their standard deviations first", since=3, before=False),
        covariance_type("diag", "spherical"), TIED, DDOF, PRIORS, var_smoothing(),
    ),
    _axes, needs_full_scatter=True, compares_features=_units_of_axes, alternatives=({},),
    estimated=(
        "components_", "mean_", "scale_", "explained_variance_", "explained_variance_ratio_",
        "n_components_", "class_prior_", "theta_", "var_", "epsilon_",
    ),
)  # fmt: skip

MIXED_NB = Member(
    "MixedNB", "naive Bayes of normal and categorical features",
    (
        Option("categorical_features", None, (ArrayLike(), Words(("auto",)), Nothing("none")),
               "features that hold categories (text, booleans, whole numbers); auto: every column "
               "of text, booleans or a dictionary type, but for those that identify rows",
               _check_categorical_features, is_learned=True, is_list=True, metavar="A,B|auto",
               flag="categorical"),
        Option("alpha", 1.0, (Number(0),), "smoothing of categories", metavar="F"),
        Option("min_categories", None, (Nothing("those that occur"), ArrayLike(), Whole(1)),
               "how many categories a feature has at least", _check_min_categories, is_list=True,
               metavar="N"),
        Option("max_categories", 50_000, (Nothing("any number"), Whole(1)),
               "most categories of a feature, beyond which it is refused", is_learned=True,
               metavar="N", since=3, before=None),
        PRIORS, var_smoothing(), MISSING,
    ),
    _mixed, takes_categories=True,
    estimated=(
        "class_prior_", "theta_", "var_", "epsilon_", "is_categorical_", "categories_",
        "category_count_", "feature_log_prob_", "unseen_log_prob_",
    ),
)  # fmt: skip

MEMBERS: dict[str, Member] = {}
"""The members by their names."""


def register(member: Member) -> Member:
    """Add a member to the family, and return it.

    It is then a model type of the command line and of model files, as soon as its estimator is
    defined: a subclass of `GaussianClassifier` with ``member="NAME"`` as a class keyword. Raises
    ValueError if another member has this name.
    """
    if MEMBERS.setdefault(member.name, member) is not member:
        raise ValueError(f"The family has a member {member.name} already.")
    return member


def unregister(name: str) -> None:
    """Remove a member from the family. Raises KeyError if there is none of that name."""
    del MEMBERS[name]


for _member in (GAUSSIAN_NB, GAUSSIAN_BAYES, PCA_GAUSSIAN_NB, MIXED_NB):
    register(_member)


def options_of(name: str) -> tuple[Option, ...]:
    """The options of a member, by its name."""
    return MEMBERS[name].options


def all_options() -> dict[str, dict[str, Option]]:
    """The options of all members, by name: for each one the members that have it, with theirs."""
    found: dict[str, dict[str, Option]] = {}
    for member in MEMBERS.values():
        for option in member.options:
            found.setdefault(option.name, {})[member.name] = option
    return found


def members_with(option: str) -> list[str]:
    """The names of the members that have an option."""
    return [member.name for member in MEMBERS.values() if member.has(option)]


def default_member(*, categories: bool = False) -> Member:
    """The member that is used if none is named: the first one for this kind of data."""
    return next(m for m in MEMBERS.values() if m.takes_categories == categories)


def markdown_table() -> str:
    """The members and their options as a table in Markdown, as the README has it."""
    lines = ["| Member | Options, with their defaults |", "|---|---|"]
    for member in MEMBERS.values():
        parts = [f"`{option.name}={option.default!r}`" for option in member.options]
        lines.append(f"| `{member.name}`: {member.summary} | {', '.join(parts)} |")
    return "\n".join(lines)
