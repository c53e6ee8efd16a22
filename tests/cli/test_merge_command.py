"""`fastgnb merge` and `reestimate`: features by name, parameters by choice, exact."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from command_line import fails, run
from sklearn.base import clone

from fastgnb import GaussianBayes, GaussianNB, MixedNB, MixedStats, PCAGaussianNB, load
from fastgnb.files.models import container as _model_file
from fastgnb.files.models import model_file as persist
from fastgnb.stats.class_stats import ClassStats
from fastgnb.stats.feature_order import feature_name_differences, reorder_features


@pytest.fixture
def frame():
    draw = np.random.default_rng(5)
    y = np.arange(90) % 3
    X = draw.normal(size=(90, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.3], [0, 0, 2]]) + y[:, None]
    data = pd.DataFrame(X, columns=["a", "b", "c"])
    return data.assign(k=np.array(["u", "v", "w"])[draw.integers(0, 3, 90)], y=y)


def fit(frame, path, *words):
    data = path.with_name("rows.parquet")
    frame.to_parquet(data)
    run("fit", data, "--target", "y", "--model", path, "--quiet", *words)
    return path


MEMBERS = {
    "GaussianNB": ["--exclude", "k"],
    "skipping": ["--exclude", "k", "--missing", "skip"],
    "GaussianBayes": ["--exclude", "k", "--model-type", "GaussianBayes"],
    "PCAGaussianNB": ["--exclude", "k", "--model-type", "PCAGaussianNB", "--n-components", "2"],
    "MixedNB": ["--categorical", "k"],
}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("order", ["ckba", "bcak", "kabc"])
def test_features_in_another_order_merge_as_if_in_one(tmp_path, frame, member, order, capsys):
    if member == "skipping":
        frame.loc[::7, "b"] = np.nan
    one = fit(frame[:40], tmp_path / "one", *MEMBERS[member])
    same = fit(frame[40:], tmp_path / "same", *MEMBERS[member])
    other = fit(frame[40:][[*order, "y"]], tmp_path / "other", *MEMBERS[member])
    run("merge", one, same, "--model", tmp_path / "want", "--quiet")
    run("merge", one, other, "--model", tmp_path / "got", "--again", "--quiet")
    want, got = persist.read(tmp_path / "want").model, persist.read(tmp_path / "got").model
    assert got.feature_names == want.feature_names == persist.read(one).model.feature_names
    columns = list(want.feature_names)
    rows = frame[columns] if member == "MixedNB" else frame[columns].to_numpy()
    a, b = (one.score(rows, table="proba").table for one in (want, got))
    # Full scatter of permuted features is summed in another order, and that is all.
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(got.stats.count, want.stats.count)


def stats_of(frame, columns, **kinds):
    X = frame[list(columns)]
    if "k" in columns:
        return MixedStats.from_rows(X, frame["y"], categorical_features=["k"])
    stats = ClassStats.from_rows(X.to_numpy(), frame["y"].to_numpy(), **kinds)
    return replace(stats, feature_names=tuple(columns))


def equal(a, b):
    """Whether two statistics are the same numbers, names included."""
    if isinstance(a, MixedStats):
        return (
            equal(a.gaussian, b.gaussian)
            and a.is_categorical.tolist() == b.is_categorical.tolist()
            and [c.tolist() for c in a.categories] == [c.tolist() for c in b.categories]
            and [c.tolist() for c in a.counts] == [c.tolist() for c in b.counts]
            and a.feature_names == b.feature_names
        )
    fields = "count", "mean", "variance", "mean_lo", "feature_count", "max_scatter", "covariance"
    return a.feature_names == b.feature_names and all(
        np.array_equal(getattr(a, name), getattr(b, name))
        if getattr(a, name) is not None
        else getattr(b, name) is None
        for name in fields
    )


@pytest.mark.parametrize("columns", ["abc", "akbc", "kabc"])
@pytest.mark.parametrize("seed", range(4))
def test_an_order_and_back_is_exact(frame, columns, seed):
    stats = stats_of(frame, columns) if "k" in columns else stats_of(frame, columns, scatter="full")
    order = np.random.default_rng(seed).permutation(list(columns)).tolist()
    moved = reorder_features(stats, order)
    assert moved.feature_names == tuple(order)
    assert equal(reorder_features(moved, columns), stats)
    direct = stats_of(frame, order) if "k" in order else stats_of(frame, order, scatter="full")
    here, there = (getattr(s, "gaussian", s) for s in (moved, direct))
    np.testing.assert_allclose(here.mean, there.mean, rtol=1e-14)
    np.testing.assert_allclose(here.variance, there.variance, rtol=1e-13)


def test_an_order_keeps_what_was_skipped_and_subtracted(frame):
    X = frame[["a", "b", "c"]].to_numpy().copy()
    X[::5, 1] = np.nan
    y = frame["y"].to_numpy()
    stats = ClassStats.from_rows(X, y, missing="skip", feature_names=("a", "b", "c"))
    stats = stats - ClassStats.from_rows(
        X[:9], y[:9], missing="skip", feature_names=("a", "b", "c")
    )
    moved = reorder_features(stats, "cab")
    assert moved.max_scatter is not None
    np.testing.assert_array_equal(moved.max_scatter, stats.max_scatter[:, [2, 0, 1]])
    np.testing.assert_array_equal(moved.feature_count, stats.feature_count[:, [2, 0, 1]])


def test_other_names_are_no_order(frame):
    stats = stats_of(frame, "abc")
    with pytest.raises(ValueError, match=r"Expected features \['a', 'b', 'd'\], got"):
        reorder_features(stats, "abd")
    with pytest.raises(ValueError, match="Expected features"):
        reorder_features(replace(stats, feature_names=None), "abc")
    assert feature_name_differences(stats, stats_of(frame, "bca")) == ([], [])
    assert feature_name_differences(stats, stats_of(frame, "bc")) == (["a"], [])


def test_features_that_differ_are_named(tmp_path, frame, capsys):
    one = fit(frame[:40], tmp_path / "one", "--features", "a,b")
    two = fit(frame[40:], tmp_path / "two", "--features", "c,b")
    line = fails(capsys, "merge", one, two, "--model", tmp_path / "m")
    assert f"two: its features are others; only in {one}: a; only in {two}: c" in line
    assert not (tmp_path / "m").exists()
    three = fit(frame[40:], tmp_path / "three", "--features", "a,b,c")
    line = fails(capsys, "merge", one, three, "--model", tmp_path / "m")
    assert line.endswith(f"three: its features are others; only in {three}: c\n")


def test_a_feature_that_is_categorical_in_one_model_only_is_named(tmp_path, frame, capsys):
    frame = frame.assign(n=frame["y"] % 2)
    one = fit(frame[:40], tmp_path / "one", "--categorical", "k,n", "--features", "a,n,k")
    two = fit(frame[40:], tmp_path / "two", "--categorical", "k", "--features", "a,n,k")
    line = fails(capsys, "merge", one, two, "--model", tmp_path / "m")
    assert line.endswith(f"two: 'n' is categorical in {one} only\n")


def test_parameters_that_differ_name_the_options_that_choose(tmp_path, frame, capsys):
    one = fit(frame[:40], tmp_path / "one", "--exclude", "k")
    two = fit(
        frame[40:], tmp_path / "two", "--exclude", "k", "--missing", "skip", "--tied",
        "--var-smoothing", "1e-3", "--priors", "0.5,0.25,0.25",
    )  # fmt: skip
    line = fails(capsys, "merge", one, two, "--model", tmp_path / "m")
    for text in (
        "two: priors is [0.5, 0.25, 0.25], but None in ", "choose with --priors",
        "two: var_smoothing is 0.001, but 1e-09 in ", "choose with --var-smoothing",
        "two: missing is 'skip', but 'error' in ", "choose with --missing",
        "two: tied is True, but False in ", "choose with --tied",
    ):  # fmt: skip
        assert text in line
    some = ["--missing", "skip", "--no-tied", "--var-smoothing", "1e-6"]
    line = fails(capsys, "merge", one, two, "--model", tmp_path / "m", *some)
    assert re.search(r"two: priors is .* choose with --priors\n$", line)
    run("merge", one, two, "--model", tmp_path / "m", *some, "--priors", "data")
    assert "merge: 2 models, 3 features (a, b, c), 3 classes (0, 1, 2), total weight 90; wrote" in (
        capsys.readouterr().err
    )
    merged = persist.read(tmp_path / "m").model
    wanted = {"missing": "skip", "var_smoothing": 1e-6, "priors": None, "tied": False}
    assert {name: merged.options[name] for name in wanted} == wanted


def test_members_of_one_kind_of_scatter_merge_into_the_one_asked_for(tmp_path, frame, capsys):
    full = fit(frame[:40], tmp_path / "full", *MEMBERS["GaussianBayes"])
    axes = fit(frame[40:], tmp_path / "axes", *MEMBERS["PCAGaussianNB"])
    line = fails(capsys, "merge", full, axes, "--model", tmp_path / "m")
    assert "axes: model is 'PCAGaussianNB', but 'GaussianBayes' in " in line
    assert "choose with --model-type" in line
    run("merge", full, axes, "--model", tmp_path / "m", "--model-type", "GaussianBayes", "--quiet")
    whole = GaussianBayes().fit(frame[["a", "b", "c"]], frame["y"])
    X = frame[["a", "b", "c"]]
    np.testing.assert_allclose(load(tmp_path / "m").predict_proba(X), whole.predict_proba(X), 1e-9)


def test_full_and_diagonal_scatter_merge_into_diagonal(tmp_path, frame, capsys):
    full = fit(frame[:40], tmp_path / "full", *MEMBERS["GaussianBayes"])
    naive = fit(frame[40:], tmp_path / "naive", *MEMBERS["GaussianNB"])
    words = ["merge", full, naive, "--model", tmp_path / "m", "--model-type"]
    line = fails(capsys, *words, "GaussianBayes")
    assert "GaussianBayes cannot be made of its statistics, which hold diagonal scatter" in line
    run(*words, "GaussianNB", "--quiet")
    whole = fit(frame, tmp_path / "whole", *MEMBERS["GaussianNB"])
    a, b = (persist.read(path).model for path in (tmp_path / "m", whole))
    np.testing.assert_allclose(a.moments.var, b.moments.var, rtol=1e-12)
    assert a.options["var_smoothing"] == 1e-9


# ------------------------------------------------------------------ in Python


@pytest.mark.parametrize("member", [GaussianNB(), GaussianBayes(), PCAGaussianNB(), MixedNB()])
def test_estimators_merge_by_name(frame, member):
    kinds = {"categorical_features": ["k"]} if isinstance(member, MixedNB) else {}
    names = ["a", "k", "b", "c"] if kinds else ["a", "b", "c"]
    X, y = frame[names], frame["y"]
    one = clone(member).set_params(**kinds).fit(X[:40], y[:40])
    other = clone(member).set_params(**kinds).fit(X[40:][names[::-1]], y[40:])
    whole = clone(member).set_params(**kinds).fit(X, y)
    merged = one.merge(other)
    assert merged.feature_names_in_.tolist() == names
    np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


def test_estimators_of_other_features_do_not_merge(frame):
    y = frame["y"]
    one, two = (GaussianNB().fit(frame[list(names)], y) for names in ("ab", "ca"))
    before = one.stats_
    message = r"cannot be combined: only the first have \['b'\]; only the second have \['c'\]\."
    with pytest.raises(ValueError, match=message):
        one.merge(two)
    assert one.stats_ is before
    swapped = GaussianNB().fit(frame[["b", "a"]], y).stats_
    with pytest.raises(ValueError, match=r"they are in another order, \('a', 'b'\) and"):
        _ = before + swapped


# ------------------------------------------------------------------ reestimate


def content(path):
    """What a model file holds, whose header may have any order."""
    document, tensors, learned = _model_file.unpack(path)
    return document, {name: value.tobytes() for name, value in tensors.items()}, learned


def test_reestimate_equals_a_fit_with_those_parameters(tmp_path, frame, capsys):
    model = fit(frame, tmp_path / "m", *MEMBERS["GaussianNB"])
    words = ["--priors", "0.5,0.25,0.25", "--var-smoothing", "1e-3", "--tied", "--ddof", "1"]
    want = fit(frame, tmp_path / "want", *MEMBERS["GaussianNB"], *words)
    capsys.readouterr()
    run("reestimate", model, *words, "--output", tmp_path / "new")
    assert re.match(
        r"fastgnb: reestimate: GaussianNB, 3 features \(a, b, c\), 3 classes \(0, 1, 2\), total "
        r"weight 90; wrote .*new in ",
        capsys.readouterr().err,
    )
    assert content(tmp_path / "new") == content(want)
    run("reestimate", tmp_path / "new", "--no-tied", "--ddof", 0, "--var-smoothing", "1e-9",
        "--priors", "data", "--output", tmp_path / "back", "--quiet")  # fmt: skip
    assert content(tmp_path / "back") == content(model)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("PCAGaussianNB", ["--n-components", "2", "--rotation", "within", "--standardize"]),
        ("GaussianBayes", ["--shrinkage", "oas", "--tied"]),
        ("GaussianNB", ["--covariance-type", "spherical"]),
    ],
)
def test_reestimate_makes_another_member(tmp_path, frame, kind, words):
    full = fit(frame, tmp_path / "m", *MEMBERS["GaussianBayes"])
    run("reestimate", full, "--model-type", kind, *words, "--output", tmp_path / "new", "--quiet")
    want = fit(frame, tmp_path / "want", "--exclude", "k", "--model-type", kind, *words)
    got, want = persist.read(tmp_path / "new").model, persist.read(want).model
    assert (got.member.name, got.options) == (kind, want.options)
    X = frame[["a", "b", "c"]].to_numpy()
    a, b = (saved.score(X, table="proba").table for saved in (got, want))
    np.testing.assert_allclose(a, b, rtol=1e-9)


def test_words_for_no_choice(tmp_path, frame):
    axes = fit(frame, tmp_path / "axes", *MEMBERS["PCAGaussianNB"])
    run("reestimate", axes, "--n-components", "all", "--output", tmp_path / "all", "--quiet")
    assert persist.read(tmp_path / "all").model.options["n_components"] is None
    words = [*MEMBERS["GaussianBayes"], "--shrinkage", "0.5"]
    shrunk = fit(frame, tmp_path / "shrunk", *words)
    run("reestimate", shrunk, "--shrinkage", "none", "--output", tmp_path / "plain", "--quiet")
    assert persist.read(tmp_path / "plain").model.options["shrinkage"] is None
    same = fit(frame, tmp_path / "same", *MEMBERS["PCAGaussianNB"], "--n-components", "all")
    assert persist.read(same).model.options["n_components"] is None
    assert isinstance(load(same), PCAGaussianNB)


def test_what_reestimate_refuses(tmp_path, frame, capsys):
    naive = fit(frame, tmp_path / "naive", *MEMBERS["GaussianNB"])
    mixed = fit(frame, tmp_path / "mixed", *MEMBERS["MixedNB"])
    full = fit(frame, tmp_path / "full", *MEMBERS["GaussianBayes"])
    out = ["--output", tmp_path / "new"]
    line = fails(capsys, "reestimate", naive, "--model-type", "PCAGaussianNB", *out)
    assert "PCAGaussianNB cannot be made of its statistics, which hold diagonal scatter" in line
    assert "(GaussianNB can). Fit again with --model-type PCAGaussianNB." in line
    line = fails(capsys, "reestimate", mixed, "--model-type", "GaussianNB", *out)
    assert "which hold categories (MixedNB can)" in line
    line = fails(capsys, "reestimate", naive, "--shrinkage", "oas", *out)
    assert "--shrinkage is not an option of GaussianNB" in line
    line = fails(capsys, "reestimate", full, "--missing", "skip", *out)
    assert "--missing skip is not an option of GaussianBayes" in line
    line = fails(capsys, "reestimate", naive, "--priors", "0.5,0.5", *out)
    assert "priors" in line
    line = fails(capsys, "reestimate", naive, "--tied", "--output", naive)
    assert "the output would replace an input" in line
    assert not (tmp_path / "new").exists()
