"""`bench.scale`: rows that are made by number are what they are said to be, and its parts run."""

from __future__ import annotations

import bisect
import json
import math

import numpy as np
import pytest
from engines import need

MASK = 2**64 - 1
STEP = 0x9E3779B97F4A7C15


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def uniform(bits):
    return ((bits >> 12) + 0.5) / 2**52


def normal(bits, x):
    """Doornik's ziggurat in Python's integers."""
    while True:
        layer, u = bits % 128, 2 * uniform(bits) - 1
        if abs(u) * x[layer] < x[layer + 1]:
            return u * x[layer]
        if layer == 0:
            while True:
                a = math.log(uniform(bits := mix((bits + STEP) & MASK))) / x[1]
                if -2 * math.log(uniform(bits := mix((bits + STEP) & MASK))) >= a * a:
                    return math.copysign(x[1] - a, u)
        bits = mix((bits + STEP) & MASK)
        upper, lower = (
            math.exp((u * x[layer]) ** 2 / 2 - x[i] ** 2 / 2) for i in (layer, layer + 1)
        )
        if lower + uniform(bits) * (upper - lower) < 1:
            return u * x[layer]
        bits = mix((bits + STEP) & MASK)


@pytest.fixture
def rows(bench):
    from bench.scale import rows

    return rows


def test_rows_are_those_of_the_definition(rows):
    """Counters in Python's integers; 60,000 values take every branch."""
    problem, first, n = rows.Problem(n_features=3, offset=5.0), 2**40 + 7, 20_000
    prior, wanted = np.cumsum(problem.prior).tolist(), []
    X, y = rows.make_rows(problem, first, n)
    key = (problem.seed + 1) * 0xD1342543DE82EF95
    x = rows._ZIGGURAT[0].tolist()
    for i in range(n):
        at = (first + i) * 4
        label, *values = [mix((key + (at + j) * STEP) & MASK) for j in range(4)]
        wanted.append([bisect.bisect_left(prior, uniform(label)), *[normal(b, x) for b in values]])
    labels, z = np.array(wanted)[:, 0].astype(int), np.array(wanted)[:, 1:]
    assert np.array_equal(y, labels)
    assert np.abs(z).max() > x[1]  # from the tail
    np.testing.assert_allclose(X, problem.mean[y] + problem.sd[y] * z, rtol=1e-14)


def test_any_row_can_be_made_again(rows):
    problem = rows.Problem()
    X, y = rows.make_rows(problem, 0, 3000)
    for first, n in ((0, 1), (777, 5), (2999, 1), (1000, 0), (1234, 1766)):
        Z, labels = rows.make_rows(problem, first, n)
        assert np.array_equal(Z, X[first : first + n])
        assert np.array_equal(labels, y[first : first + n])
        assert np.array_equal(rows.make_labels(problem, first, n), labels)
    other = rows.make_rows(problem._replace(seed=15), 0, 3000)[0]
    assert not (other == X).any()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("first", "n"), [(0, 1000), (500, 999), (0, 100), (3, 0), (7, 101)])
def test_batches_are_all_rows_in_order(rows, threads, first, n):
    problem = rows.Problem(n_features=2)
    found = list(rows.batches(problem, first, n, rows=100, threads=threads))
    assert [len(batch) for batch in found] == [min(100, n - i) for i in range(0, n, 100)]
    X, y = rows.make_rows(problem, first, n)
    for i, batch in enumerate(found):
        part = slice(100 * i, 100 * i + len(batch))
        assert np.array_equal(batch.column("x1"), X[part, 1])
        assert np.array_equal(batch.column("y"), y[part])


def test_rows_have_the_distribution(rows):
    from scipy.stats import kstest

    problem = rows.Problem(n_features=4)
    X, y = rows.make_rows(problem, 10**12, 100_000)
    z = ((X - problem.mean[y]) / problem.sd[y]).ravel()
    assert kstest(z, "norm").pvalue > 1e-3
    for power, wanted in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15)):
        spread = math.sqrt(math.prod(range(1, 2 * power, 2)) - wanted**2)
        assert abs((z**power).mean() - wanted) < 4 * spread / math.sqrt(len(z))
    tail = (np.abs(z) > 3.5).mean()
    assert tail == pytest.approx(math.erfc(3.5 / math.sqrt(2)), rel=0.3)
    both = np.corrcoef(z.reshape(-1, 4), rowvar=False) - np.eye(4)
    assert np.abs(both).max() < 4.5 / math.sqrt(len(y))


def test_deviations_are_in_standard_errors(rows):
    from bench.scale.expectation import bayes_accuracy, deviations, relative_error
    from fastgnb import ClassStats, GaussianNB

    problem = rows.Problem()
    X, y = rows.make_rows(problem, 0, 40_000)
    stats = ClassStats.from_rows(X, y)
    assert all(0.1 < value < 5 for value in deviations(problem, stats).values())
    far = deviations(problem, ClassStats.from_rows(X * 1.1 + 0.1, y))
    assert far["mean"] > 10
    assert far["variance"] > 10
    best = bayes_accuracy(problem, X, y)
    assert abs(GaussianNB().fit(X, y).score(X, y) - best) < 2e-3
    assert relative_error([1.0, 2.0], [1.0, 1.9]) == pytest.approx(0.1 / 1.9)
    assert relative_error([np.nan], [1.0]) == math.inf


# ------------------------------------------------------------------ parts


@pytest.fixture
def command(bench, tmp_path, capsys):
    """`python -m bench.scale` with few rows; the exit code, the figures, and what it prints."""

    def command(*words):
        from bench.scale.__main__ import main

        path = tmp_path / "run.json"
        code = main([*words, "--json", str(path)])
        return code, json.loads(path.read_text()), capsys.readouterr()

    return command


@pytest.mark.slow
def test_a_stream_is_learned_and_scored(command):
    code, run, out = command("--part", "billion", "--rows", "2e5")
    figures = run["parts"]["billion"]
    assert code == 0
    assert figures["rows"] == figures["rows_counted"] == 200_000
    assert max(figures["deviations"].values()) < 5
    assert abs(figures["accuracy"] - figures["accuracy_of_the_distribution"]) < 5e-3
    assert "A stream in one process: 200,000 rows of 20 features" in out.out


@pytest.mark.engine
@pytest.mark.parametrize(
    ("part", "workers", "modules"),
    [("dask", [1, 2], ("distributed", "dask_ml")), ("spark", [2], ("pyspark", "java"))],
)
def test_an_engine_gives_the_bits_of_one_process(command, part, workers, modules):
    need(*modules)
    words = ["--workers", *map(str, workers)]
    code, run, out = command("--part", part, "--engine-rows", "8000", *words)
    figures = run["parts"][part]
    assert code == 0, figures
    assert [one["workers"] for one in figures["clusters"]] == workers
    for one in figures["clusters"]:
        assert one["same_bits"]
        assert one["accuracy"] > 0.9
    assert figures["deviations"]["variance"] < 5
    assert figures["rival"]["accuracy"] > 0.5
    assert out.out.count("those of one process") == len(workers)


def test_a_part_that_fails_is_said(bench, command, monkeypatch):
    from bench.scale import __main__, page

    monkeypatch.setitem(__main__.PARTS, "dask", "no_such_module")
    written = page.PAGE.read_bytes()
    code, run, out = command("--part", "dask", "--write", "--timeout", "0.01")
    assert code == 1
    assert run["parts"]["dask"] == {"error": "not done after 0.01 s"}
    assert "### Dask\n\nThis part failed: not done after 0.01 s" in out.out
    assert page.PAGE.read_bytes() == written


@pytest.mark.parametrize("value", ["0", "1.5", "-3", "1e-9"])
def test_numbers_of_rows_are_whole(command, value, capsys):
    with pytest.raises(SystemExit):
        command("--rows", value)
    assert "expected a whole number such as 1e9" in capsys.readouterr().err


def test_the_page_has_the_tables_of_the_results(bench):
    from bench.scale import page
    from bench.scale.__main__ import RESULTS

    inside = page.PAGE.read_text(encoding="utf-8").partition(page.BEGIN)[2].partition(page.END)[0]
    if RESULTS.exists():
        assert inside == page.tables(json.loads(RESULTS.read_text(encoding="utf-8")))
    else:
        assert inside == "Not measured yet.\n"
