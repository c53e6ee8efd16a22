"""Cases in memory: shapes, options, layouts, types, weights, missing values, streams, searches."""

# ruff: noqa: B023  (the functions in loops are called before the loop goes on)
from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, MixedStats, PCAGaussianNB

from . import models
from .digest import Record
from .models import fields_of, fit, fitted_of, look, make, score, stats_of
from .rows import (
    DTYPES,
    LARGE,
    SMALL,
    Shape,
    as_dtype,
    grid,
    labels,
    layouts,
    rows,
    weights,
    with_missing,
)


def shapes(record: Record) -> None:
    """Diagonal and full statistics and the default members over every shape."""
    for i, shape in enumerate(grid()):
        data = rows(shape, m=max(1, shape.n % 200))
        name = f"shapes/{shape}"
        score(record, f"{name}/GaussianNB", fit(record, f"{name}/GaussianNB", GaussianNB(),
              data.X, data.y, data.weight if i % 2 else None), data.more)  # fmt: skip
        if i % 3:
            model = GaussianBayes(tied=i % 3 == 1)
        else:
            model = PCAGaussianNB(rotation=("total", "within", "class")[i // 3 % 3])
        full = fit(record, f"{name}/full", model, data.X, data.y, data.weight)
        if full is not None:
            record(f"{name}/full/joint", lambda: full.predict_joint_log_proba(data.more))


def options(record: Record) -> None:
    """Every option of every member."""
    for shape in SMALL:
        data = rows(shape)
        for text, cls, given in models.NAIVE + models.FULL + models.AXES + models.MIXED:
            name = f"options/{shape}/{text}"
            score(record, name, fit(record, name, cls(**given), data.X, data.y), data.more)


def priors(record: Record) -> None:
    """Priors that are given, of 0 too."""
    for shape in (Shape(65, 9, 4), Shape(500, 17, 3)):
        data, k = rows(shape), shape.k
        some = np.arange(k) / sum(range(k))
        for what, given in (("even", np.full(k, 1 / k)), ("one of 0", some), ("list", [*some]),
                            ("short", [1.0]), ("sum 2", 2 * some)):  # fmt: skip
            for text, cls, chosen in models.FEW:
                name = f"priors/{shape}/{what}/{text}"
                model = fit(record, name, cls(priors=given, **chosen), data.X, data.y)
                score(record, name, model, data.more)


def large(record: Record) -> None:
    """Shapes that work in threads, with one thread and with two."""
    for shape in LARGE:
        data = rows(shape, m=20_000)
        for text, cls, given in models.FEW:
            if cls is not GaussianNB and shape.d > 40 and shape.k > 100:
                continue
            for threads in (1, 2):
                with _threads(threads):
                    name = f"large/{shape}/threads={threads}/{text}"
                    model = fit(record, name, cls(**given), data.X, data.y, data.weight)
                    score(record, name, model, data.more)


@contextmanager
def _threads(n: int) -> Iterator[None]:
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(n, before))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def memory(record: Record) -> None:
    """Layouts and containers, in learning and in scoring."""
    for shape in (Shape(257, 9, 3), Shape(2049, 5, 2), Shape(130, 33, 5), Shape(12, 1, 3)):
        data = rows(shape)
        for text, cls, given in models.FEW:
            plain = cls(**given).fit(data.X, data.y)
            for (what, X), (_, more) in zip(layouts(data.X), layouts(data.more), strict=True):
                name = f"memory/{shape}/{what}/{text}"
                model = fit(record, name, cls(**given), X, data.y)
                score(record, name, model, more)
                if what in ("F", "strided columns", "pandas"):
                    record(f"{name}/other", lambda m=more: plain.predict_joint_log_proba(m))


def types(record: Record) -> None:
    """Types of numbers, with types that differ between learning and scoring."""
    for shape in (Shape(257, 9, 3), Shape(2049, 5, 2)):
        data = rows(shape)
        for text, cls, given in models.FEW:
            plain = cls(**given).fit(data.X, data.y)
            for dtype in DTYPES:
                with np.errstate(over="ignore"):
                    X, more = as_dtype(data.X, dtype), as_dtype(data.more, dtype)
                name = f"types/{shape}/{dtype}/{text}"
                score(record, name, fit(record, name, cls(**given), X, data.y), more)
                record(f"{name}/other", lambda m=more: plain.predict_proba(m))
                record(f"{name}/F", lambda m=more: plain.predict_proba(np.asfortranarray(m)))


def weighted(record: Record) -> None:
    """Weights of any kind and scale."""
    for shape in (Shape(65, 9, 4), Shape(1000, 5, 3), Shape(2049, 17, 2)):
        data = rows(shape)
        for what, weight in weights(shape.n):
            for text, cls, given in models.FEW + models.AXES[-2:] + models.NAIVE[3:4]:
                name = f"weights/{shape}/{what}/{text}"
                model = fit(record, name, cls(**given), data.X, data.y, weight)
                score(record, name, model, data.more)
            name = f"weights/{shape}/{what}"
            record(f"{name}/score", lambda w=weight: GaussianNB().fit(data.X, data.y).score(
                data.X, data.y, w))  # fmt: skip


def missing(record: Record) -> None:
    """Missing values, skipped or refused."""
    for shape in (Shape(65, 9, 4), Shape(500, 3, 3), Shape(2049, 17, 2), Shape(9, 1, 2)):
        data = rows(shape)
        pairs = zip(with_missing(data.X), with_missing(data.more, 1), strict=True)
        for (what, X), (_, more) in pairs:
            for cls in (GaussianNB, MixedNB):
                for dtype in ("f8", "f4"):
                    name = f"missing/{shape}/{what}/{dtype}/{cls.__name__}"
                    model = cls(missing="skip")
                    fit(record, name, model, X.astype(dtype), data.y, data.weight)
                    score(record, name, model if hasattr(model, "stats_") else None,
                          np.asfortranarray(more, dtype))  # fmt: skip
            for text, cls, given in models.FEW:
                name = f"missing/{shape}/{what}/refused/{text}"
                fit(record, name, cls(**given), X, data.y)
                plain = cls(**given).fit(data.X, data.y)
                record(f"{name}/predict", lambda m=more, p=plain: p.predict(m))


def extreme(record: Record) -> None:
    """Rows and classes so far out that log likelihoods overflow, and rows that do not vary."""
    for shape in (Shape(65, 9, 4), Shape(500, 3, 2), Shape(2049, 17, 3)):
        data = rows(shape)
        far = data.more.copy()
        for i, value in enumerate((1e150, -1e154, 1e200, -1e300, 1.7e308, 1e-320, -0.0)):
            far[i * 9, i % shape.d] = value
            far[i * 9 + 4] = value
        fits = {
            "usual": data.X,
            "far class": data.X + np.where(data.y == 0, 1e9, 0.0)[:, None],
            "1e150": data.X * 1e150,
            "1e300": data.X * 1e300,
            "1e-160": data.X * 1e-160,
            "offset 1e8": data.X + 1e8,
            "constant": np.full_like(data.X, 3.0),
            "constant column": np.where(np.arange(shape.d) == 0, 7.0, data.X),
            "equal columns": np.repeat(data.X[:, :1], shape.d, axis=1),
            "infinite": np.where(data.X[0, 0] == data.X, np.inf, data.X),
        }
        for what, X in fits.items():
            for text, cls, given in models.FEW + models.AXES[8:9] + models.FULL[12:14]:
                name = f"extreme/{shape}/{what}/{text}"
                model = fit(record, name, cls(**given), X, data.y)
                score(record, name, model, far)
                score(record, f"{name}/single", model, np.clip(far, -3e38, 3e38).astype("f4"))
        model = GaussianNB().fit(data.X, data.y)
        for value in (np.nan, np.inf, -np.inf):
            far[5, 0] = value
            record(f"extreme/{shape}/{value}", lambda: model.predict(far))


def label_types(record: Record) -> None:
    """Labels of any type."""
    shape = Shape(257, 4, 5)
    data = rows(shape)
    for what, y in labels(data.y):
        for text, cls, given in models.FEW:
            name = f"labels/{what}/{text}"
            model = fit(record, name, cls(**given), data.X, y, data.weight)
            score(record, name, model, data.more)
            if model is not None:
                record(f"{name}/score", lambda m=model, y=y: m.score(data.X, y))
        name = f"labels/{what}/declared"
        stats = make(record, name, lambda y=y: ClassStats.from_rows(data.X, y, classes=y))
        if stats is not None:
            record(f"{name}/stats", lambda s=stats: stats_of(s))


def statistics(record: Record) -> None:
    """Statistics by themselves: added, subtracted, decayed, updated, and taken by members."""
    for shape in (Shape(65, 9, 4), Shape(1000, 5, 3), Shape(300, 33, 2), Shape(40, 2, 10)):
        data = rows(shape)
        for scatter in ("diag", "full"):
            for skip in ("error", "skip") if scatter == "diag" else ("error",):
                name = f"statistics/{shape}/{scatter}/{skip}"
                keys = {"scatter": scatter, "missing": skip}
                X = next(iter(with_missing(data.X)))[1] if skip == "skip" else data.X

                def part(start: int, stop: int, X: Any = X, keys: Any = keys) -> ClassStats:
                    at = slice(start, stop)
                    return ClassStats.from_rows(X[at], data.y[at], data.weight[at], **keys)

                _algebra(record, name, part, shape.n)
                record(f"{name}/classes", lambda X=X, keys=keys: stats_of(ClassStats.from_rows(
                    X, data.y, classes=range(-1, 14), feature_names=[f"c{j}" for j in range(
                        shape.d)], **keys)))  # fmt: skip
                stats = part(0, shape.n)
                for text, cls, given in models.NAIVE + models.FULL[::3] + models.AXES[::3]:
                    each = f"{name}/{text}"
                    model = make(record, each, lambda c=cls, g=given, s=stats: c(**g).fit_stats(s))
                    if model is not None:
                        record(f"{each}/fitted", lambda m=model: fitted_of(m))
                        record(f"{each}/joint", lambda m=model: m.predict_joint_log_proba(
                            data.more))  # fmt: skip


def _algebra(record: Record, name: str, part: Callable[[int, int], Any], n: int) -> None:
    half, third = n // 2, n // 3
    whole = part(0, n)
    cuts = [*range(0, n, max(1, n // 17)), n]
    pieces = [part(a, b) for a, b in itertools.pairwise(cuts) if a < b]
    calls: dict[str, Callable[[], Any]] = {
        "whole": lambda: whole,
        "sum": lambda: sum(pieces),
        "two": lambda: part(half, n) + part(0, half),
        "less": lambda: whole - part(third, half),
        "less all": lambda: whole - whole,
        "less strange": lambda: part(0, half) - whole,
        "window": lambda: whole - pieces[0] + pieces[0] - pieces[1] - pieces[2],
        "decay": lambda: whole.decay(0.37),
        "decay half": lambda: (whole.decay(0.5) + pieces[0]).decay(0.9) - pieces[0].decay(0.9),
        "decay away": lambda: whole.decay(1e-320).decay(1e-10),
        "decay wrong": lambda: whole.decay(0.0),
    }
    if hasattr(whole, "to_diag"):
        calls["to_diag"] = whole.to_diag
    for what, call in calls.items():
        record(f"{name}/{what}", lambda call=call: stats_of(call()))


def streams(record: Record) -> None:
    """partial_fit in pieces, merge, reestimate, sample, copies, and model files."""
    for shape in (Shape(65, 9, 4), Shape(1000, 5, 3), Shape(400, 20, 6)):
        data = rows(shape)
        for text, cls, given in models.NAIVE + models.FULL[::2] + models.AXES[::2] + models.MIXED:
            for step in (7, 64, 333):
                name = f"streams/{shape}/{text}/{step}"
                model = cls(**given)
                classes = [*range(shape.k), 77]
                for at in range(0, shape.n, step):
                    piece = slice(at, at + step)
                    record(f"{name}/{at}", lambda m=model, p=piece, c=classes: fields_of(
                        m.partial_fit(data.X[p], data.y[p], c, data.weight[p]).stats_)
                    ) if at < 3 * step else model.partial_fit(
                        data.X[piece], data.y[piece], classes, data.weight[piece]
                    )  # fmt: skip
                look(record, name, model)
                score(record, name, model, data.more)
            name = f"streams/{shape}/{text}"
            whole = cls(**given).fit(data.X, data.y)
            half = shape.n // 2
            other = cls(**given).fit(data.X[:half], data.y[:half] + 1, data.weight[:half])
            fresh = cls(**given).fit(data.X[half:], data.y[half:])
            look(record, f"{name}/merged", make(
                record, f"{name}/merged", lambda a=fresh, b=other: a.merge(b)))  # fmt: skip
            record(f"{name}/sample", lambda m=whole: m.sample(40, 0))
            record(f"{name}/pickle", lambda m=whole: pickle.loads(pickle.dumps(m)).predict_proba(
                data.more))  # fmt: skip
            record(f"{name}/copy", lambda m=whole: copy.deepcopy(m).predict_log_evidence(data.more))


CHANGES: tuple[dict[str, Any], ...] = (
    {}, {"var_smoothing": 1e-3}, {"priors": [0.5, 0.25, 0.25]}, {"tied": True}, {"ddof": 1},
    {"covariance_type": "diag"}, {"covariance_type": "spherical"}, {"covariance_type": "full"},
    {"reg_param": 0.5}, {"shrinkage": "oas"}, {"shrinkage_target": "spherical", "shrinkage": 0.2},
    {"n_components": 2}, {"rotation": "class"}, {"rotation": "within"}, {"standardize": True},
    {"alpha": 0.0}, {"min_categories": 4}, {"max_categories": 1}, {"missing": "skip"},
    {"tied": "yes"}, {"ddof": 2}, {"var_smoothing": -1}, {"reg_param": 2}, {"shrinkage": "other"},
    {"shrinkage": -0.1}, {"n_components": 0}, {"n_components": 1.5}, {"rotation": "other"},
    {"standardize": 3}, {"alpha": -1}, {"missing": "other"}, {"priors": [0.5, 0.5]},
    {"var_smoothing": "1"}, {"var_smoothing": np.nan}, {"covariance_type": "other"},
    {"n_components": np.int64(2)}, {"tied": np.True_}, {"priors": "abc"}, {"priors": [-1, 1, 1]},
)  # fmt: skip


def changes(record: Record) -> None:
    """Models that are estimated anew, with options that are right and wrong; edited attributes."""
    shape = Shape(300, 6, 3)
    data = rows(shape)
    for text, cls, given in models.DEFAULTS:
        model = cls(**given).fit(data.X, data.y)
        for change in CHANGES:
            name = f"changes/{text}/{change}"
            new = make(record, name, lambda m=model, c=change: m.reestimate(**c))
            if new is not None:
                record(f"{name}/fitted", lambda m=new: fitted_of(m))
                score(record, name, new, data.more)
            if not cls().get_params().keys() >= change.keys():
                continue
            name = f"changes/{text}/{change}/fit"
            score(record, name, fit(record, name, cls(**change), data.X, data.y), data.more)
    _edits(record, data)


def _edits(record: Record, data: Any) -> None:
    names = ("class_prior_", "theta_", "var_", "means_", "covariance_", "components_", "mean_",
             "scale_", "classes_", "n_features_in_", "epsilon_", "class_count_")  # fmt: skip
    edits: dict[str, Callable[[Any], Any]] = {
        "more": lambda a: a * 2 if a.dtype.kind == "f" else a + 1,
        "zero": np.zeros_like,
        "short": lambda a: a[:-1],
        "single": lambda a: a.astype("f4"),
        "list": lambda a: a.tolist(),
        "last": lambda a: a[::-1],
        "nan": lambda a: a * np.nan,
    }
    for text, cls, given in models.FEW:
        fitted = cls(**given).fit(data.X, data.y)
        for attribute in names:
            for what, edit in edits.items() if hasattr(fitted, attribute) else ():
                model = copy.deepcopy(fitted)
                try:
                    setattr(model, attribute, edit(np.asarray(getattr(model, attribute))))
                except (IndexError, TypeError):
                    continue
                name = f"edits/{text}/{attribute}/{what}"
                for method in ("predict", "predict_proba", "predict_joint_log_proba"):
                    record(f"{name}/{method}", lambda m=model, f=method: getattr(m, f)(data.more))
                record(f"{name}/sample", lambda m=model: m.sample(9, 1))


def categories(record: Record) -> None:
    """MixedNB with categories of numbers, text and booleans, in arrays and frames."""
    for n, k in ((9, 2), (257, 3), (2049, 5)):
        frames = mixed_tables(n, k)
        codes = np.arange(n) % k
        draw = np.random.default_rng(n)
        weight = draw.uniform(0.5, 2.0, n)
        for what, (X, spec) in frames.items():
            for given in (
                {}, {"alpha": 0.0}, {"alpha": 0.3, "min_categories": 9}, {"missing": "skip"},
                {"max_categories": 2}, {"var_smoothing": 0.1},
            ):  # fmt: skip
                name = f"categories/{n}x{k}/{what}/{given}"
                model = MixedNB(categorical_features=spec, **given)
                model = fit(record, name, model, X, codes, weight)
                score(record, name, model, X)
                if model is None:
                    continue
                record(f"{name}/sample", lambda m=model: m.sample(30, 0))
                record(f"{name}/alpha", lambda m=model: m.reestimate(alpha=2.0).predict_proba(X))
            name = f"categories/{n}x{k}/{what}"
            _mixed_pieces(record, name, X, codes, spec)


def _mixed_pieces(record: Record, name: str, X: Any, codes: np.ndarray, spec: Any) -> None:
    def part(start: int, stop: int) -> MixedStats:
        return MixedStats.from_rows(
            X[start:stop], codes[start:stop], categorical_features=spec, missing="skip"
        )

    if not isinstance(X, list):
        stats = make(record, f"{name}/stats", lambda: part(0, len(codes)))
        if stats is not None:
            _algebra(record, f"{name}/stats", part, len(codes))
    model = MixedNB(categorical_features=spec, missing="skip")
    for at in range(0, len(codes), max(1, len(codes) // 5)):
        piece = slice(at, at + max(1, len(codes) // 5))
        make(record, f"{name}/stream/{at}", lambda p=piece: model.partial_fit(
            X[p], codes[p], np.unique(codes)))  # fmt: skip
    if hasattr(model, "stats_"):
        look(record, f"{name}/stream", model)
        score(record, f"{name}/stream", model, X)


def mixed_tables(n: int, k: int) -> dict[str, tuple[Any, Any]]:
    """Tables of continuous and categorical columns, with how the latter are named."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    draw = np.random.default_rng([n, k])
    codes = np.arange(n) % k
    u, v = draw.normal(size=n) + codes, draw.normal(size=n) * 50
    number = draw.integers(0, 4, n) + codes
    word = np.array(["red", "green", "blue", "grün"])[draw.integers(0, 4, n)]
    flag = draw.random(n) < 0.4
    big = (draw.integers(0, 3, n) + 2**60).astype(np.int64)
    lacks = np.where(draw.random(n) < 0.2, np.nan, number)
    words = np.where(draw.random(n) < 0.2, None, word.astype(object))
    columns = {"u": u, "word": word, "v": v, "flag": flag, "number": number}
    frame = pd.DataFrame(columns)
    return {
        "array": (np.column_stack([u, number, v]), [1]),
        "array mask": (np.column_stack([number, u, lacks]), [True, False, True]),
        "only": (np.column_stack([number, flag]).astype("i8"), [0, 1]),
        "single": (np.column_stack([u, number]).astype("f4"), [1]),
        "fortran": (np.asfortranarray(np.column_stack([u, v, number, lacks])), [2, 3]),
        "objects": (np.column_stack([u.astype(object), words, number.astype(object)]), [1, 2]),
        "big": (np.column_stack([big, number]), [0]),
        "pandas": (frame, ["word", "flag", "number"]),
        "pandas auto": (frame.assign(words=words), "auto"),
        "pandas kind": (frame.assign(word=frame["word"].astype("category")), "auto"),
        "polars": (pl.DataFrame(columns), ["word", "flag"]),
        "arrow": (pa.table(columns), ["word", "number"]),
        "arrow auto": (pa.table({**columns, "words": words}), "auto"),
    }


def selection(record: Record) -> None:
    """Searches and cross-validation, without times."""
    from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit

    from fastgnb.select import StatsGridSearchCV, cross_validate

    shape = Shape(300, 6, 3)
    data = rows(shape)
    grids: dict[type, dict[str, Any]] = {
        GaussianNB: {"var_smoothing": [1e-9, 0.1], "tied": [False, True]},
        GaussianBayes: {"reg_param": [0.0, 0.1], "shrinkage": [None, "oas"], "tied": [False, True]},
        PCAGaussianNB: {"n_components": [1, 3, 99], "rotation": ["total", "class"]},
        MixedNB: {"alpha": [0.1, 1.0], "missing": ["error", "skip"]},
    }
    splits: dict[str, Any] = {
        "5": 5, "kfold": KFold(4, shuffle=True, random_state=0), "groups": GroupKFold(3),
        "shuffle": ShuffleSplit(3, random_state=0), "repeated": RepeatedKFold(
            n_splits=3, n_repeats=2, random_state=0), "one": LeaveOneOut(),
    }  # fmt: skip
    few, groups = np.arange(60), np.arange(300) % 11
    for cls, grid_ in grids.items():
        for what, cv in splits.items():
            at = few if what == "one" else np.arange(300)
            for scoring in (None, "neg_log_loss", ["accuracy", "neg_log_loss"]):
                if what == "one" and scoring is not None:
                    continue
                name = f"selection/{cls.__name__}/{what}/{scoring}"
                search = StatsGridSearchCV(
                    cls(), grid_, cv=cv, scoring=scoring, return_train_score=True,
                    refit="accuracy" if isinstance(scoring, list) else True,
                )  # fmt: skip
                fitting = {"groups": groups[at]} if what == "groups" else {}
                search = make(record, name, lambda s=search, a=at, f=fitting: s.fit(
                    data.X[a], data.y[a], **f))  # fmt: skip
                if search is None:
                    continue
                record(f"{name}/results", lambda s=search: _without_times(s.cv_results_))
                record(
                    f"{name}/best",
                    lambda s=search: [
                        s.best_index_,
                        s.best_score_,
                        repr(sorted(s.best_params_.items())),
                    ],
                )
                record(f"{name}/proba", lambda s=search: s.predict_proba(data.more))  # fmt: skip
        for what in ("5", "kfold", "shuffle"):
            record(f"selection/{cls.__name__}/{what}/cross_validate", lambda c=cls, w=what: (
                _without_times(cross_validate(c(), data.X, data.y, cv=splits[w],
                                              scoring=["accuracy", "neg_log_loss"]))))  # fmt: skip


def _without_times(results: Any) -> dict[str, Any]:
    return {
        name: np.ma.filled(value.astype(object), "masked")
        if np.ma.isMaskedArray(value)
        else [repr(sorted(each.items())) for each in value]
        if name == "params"
        else value
        for name, value in results.items()
        if not name.endswith("_time")
    }


def neighbours(record: Record) -> None:
    """Models of scikit-learn, taken over and given away."""
    from sklearn.naive_bayes import GaussianNB as Plain

    for shape in (Shape(65, 9, 4), Shape(1000, 5, 3)):
        data = rows(shape)
        name = f"neighbours/{shape}"
        plain = Plain().fit(data.X, data.y)
        model = make(record, f"{name}/from", lambda p=plain: GaussianNB.from_sklearn(p))
        look(record, f"{name}/from", model)
        score(record, f"{name}/from", model, data.more)
        ours = GaussianNB().fit(data.X, data.y)
        record(f"{name}/to", lambda m=ours: fitted_of(m.to_sklearn()))


GROUPS = (
    shapes, options, priors, large, memory, types, weighted, missing, extreme, label_types,
    statistics, streams, changes, categories, selection, neighbours,
)  # fmt: skip
