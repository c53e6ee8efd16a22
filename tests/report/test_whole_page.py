"""The page as a whole: structure, names that try to be HTML, size, and the same bytes again."""

from __future__ import annotations

import base64
import collections
import datetime
import hashlib
import itertools
import re

import numpy as np
import pyarrow as pa
import pytest
from report_pages import blobs, written

from fastgnb import GaussianBayes, MixedNB, PCAGaussianNB
from fastgnb.report import write_report

MOST = 2_000_000

HOSTILE = "</script><img src=x onerror=alert(1)>"


def check_structure(root, text):
    """What holds for every page."""
    ids = collections.Counter(each["id"] for each in root.walk() if each.get("id"))
    assert [name for name, count in ids.items() if count > 1] == []
    for each in root.walk():
        for name in ("aria-labelledby", "for", "list"):
            assert set((each.get(name) or "").split()) <= set(ids)
        if (each.get("href") or "").startswith("#"):
            assert each["href"][1:] in ids
        assert not any(name.startswith("on") or name == "style" for name in each.attributes)
    levels = [int(each.name[1]) for each in root.walk() if re.fullmatch("h[1-6]", each.name)]
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    for svg in root.all("svg"):
        assert svg["role"] == "img"
        assert svg.one("title").text
        assert svg.one("desc").text
    for table in root.all("table"):
        assert table.one("caption").text
        assert {"col"} == {th["scope"] for th in table.one("thead").all("th")}
    for card in root.all("div"):
        if "card" in (card.get("class") or "").split() and card.all("svg"):
            assert card.one("details").one("table")
    assert not re.search(r"""(?:src|href|action)=["'](?!#|data:)""", text)
    assert "url(http" not in text
    assert "@import" not in text
    assert len(text.encode()) <= MOST


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """(folder, page, its text) of a plain model"""
    folder = tmp_path_factory.mktemp("plain")
    return folder, *written(folder, blobs())


def test_structure(plain):
    _, root, text = plain
    check_structure(root, text)
    assert root.one("html")["lang"] == "en"
    assert root.one("h1").text == "GaussianNB for label"
    assert "not drawn" not in text
    assert "2026-01-02 03:04 UTC" in text


def test_policy_allows_this_style_and_this_script_and_nothing_else(plain):
    _, root, _ = plain
    policy = root.one("meta", http_equiv="Content-Security-Policy")["content"]
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == parts["base-uri"] == parts["form-action"] == "'none'"
    scripts = [each.text for each in root.all("script") if not each.get("type")]
    styles = [each.text for each in root.all("style")]
    for name, texts in (("script-src", scripts), ("style-src", styles)):
        (content,) = texts
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert parts[name] == f"'sha256-{digest}'"


def test_another_date_changes_only_that(plain):
    folder, _, text = plain
    again = folder / "again.html"
    write_report(
        folder / "model", folder / "rows.parquet", again, target="label",
        date=datetime.datetime(2026, 1, 3, 3, 4, tzinfo=datetime.UTC),
    )  # fmt: skip
    assert again.read_text(encoding="utf-8") == text.replace("2026-01-02", "2026-01-03")


def test_names_and_labels_stay_text(report):
    names = [f"{HOSTILE}{j}" for j in range(2)] + ["$x^$ & $\\frac$", "ä漢\u202e\x07", "a" * 2000]
    labels = [HOSTILE, "<b>bold</b>", "$\\sum", "b" * 2000]
    table = blobs(d=5, k=4, names=names, labels=labels)
    root, text = report(table, title=HOSTILE)
    check_structure(root, text)
    assert root.one("h1").text == HOSTILE
    assert root.all("img") == []
    assert root.all("b") == []
    assert "a" * 100 not in text
    assert "b" * 100 not in text
    assert any(HOSTILE in th.text for th in root.all("th"))


@pytest.mark.parametrize(
    "estimator",
    [GaussianBayes(tied=True), PCAGaussianNB(n_components=2, rotation="class")],
    ids=repr,
)
def test_other_members(report, estimator):
    root, text = report(blobs(), estimator=estimator)
    check_structure(root, text)
    has_own_axes = getattr(estimator, "rotation", None) == "class"
    assert ("This chart is not drawn. " in text) == has_own_axes  # of the classes' separation


def test_categories(report):
    table = blobs(names=["x", "y", "<z>"]) | {
        "colour": pa.array([["red", "<green>", "blue"][(i // 3) % 3] for i in range(300)])
    }
    root, text = report(table, estimator=MixedNB(categorical_features=["colour"]))
    check_structure(root, text)
    assert "<green>" in [td.text for td in root.one("table", id="categories").all("td")]


def test_one_class(report):
    root, text = report(blobs(k=1))
    check_structure(root, text)
    assert "right for 100.0% of 300 rows" in text


def test_constant_features_and_one_row_of_a_class(report):
    table = blobs(n=301, k=4) | {"constant": np.ones(301)}
    table["label"] = pa.array(["a"] * 300 + ["b"])
    check_structure(*report(table))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d", "k"), [(4000, 200, 16), (3000, 4, 1000), (2000, 300, 100)])
def test_size_is_bounded(report, n, d, k):
    quotes = '"' * 100  # six bytes each
    names = [f"{quotes}{j}" for j in range(d)]
    labels = [f"{quotes}{c}" for c in range(k)]
    check_structure(*report(blobs(n, d, k, names=names, labels=labels)))
