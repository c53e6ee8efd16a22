"""The loop that all scoring kernels share, by each of them: tails, blocks, overflow and outputs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import oracles
import pytest

from fastgnb.kernels import chunks, panel_product
from fastgnb.kernels.score import (
    categorical,
    diagonal,
    driver,
    outputs,
    overflow,
    posterior,
    whitened,
)
from fastgnb.kernels.score.categorical import CategoricalTerms, score_mixed
from fastgnb.kernels.score.diagonal import DiagonalTerms, score
from fastgnb.kernels.score.outputs import Scores, Wanted
from fastgnb.kernels.score.whitened import WhitenedTerms, score_whitened

K, D = 3, 9
BLOCK = driver.GROUPS_PER_BLOCK * posterior.GROUP
# One row, and sizes around a group, a group with what is read past it, a block, and two of them.
SIZES = [1, 7, 31, 32, 33, 39, 40, 64, 71, BLOCK - 1, BLOCK + 7, BLOCK + 8, 2 * BLOCK + 41]


class Problem(NamedTuple):
    """Normal classes with two categorical features, and rows that are drawn again and again."""

    prior: np.ndarray
    theta: np.ndarray
    var: np.ndarray
    table: np.ndarray
    X: np.ndarray
    slots: np.ndarray


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(7)
    prior, table = rng.dirichlet(np.ones(K)), np.log(rng.dirichlet(np.ones(4), size=(K, 2)))
    theta, var = rng.normal(size=(K, D)) * 2, rng.uniform(0.5, 2, (K, D))
    X = theta[rng.integers(0, K, 11)] + rng.normal(size=(11, D)) * 2
    slots = rng.integers([[0], [4]], [[4], [8]], (2, 11)).astype(np.int32)
    return Problem(prior, theta, var, table.reshape(K, 8), X, slots)


def const_of(p):
    return np.log(p.prior) - 0.5 * np.log(2 * np.pi * p.var).sum(axis=1)


def score_diagonal(p, X, at, wanted):
    return score(X, DiagonalTerms(p.theta, np.sqrt(0.5 / p.var), None, const_of(p)), wanted)


def score_axes(p, X, at, wanted):
    """Bases whose axes are the features, centred where no class is."""
    centre = p.theta + 0.25
    W = np.array([np.diag(row) for row in np.sqrt(0.5 / p.var)])
    mean, scale = -0.25 * np.sqrt(0.5 / p.var), np.ones((K, D))
    return score_whitened(X, WhitenedTerms(centre, W, mean, scale, const_of(p)), wanted)


def score_both(p, X, at, wanted):
    terms = DiagonalTerms(p.theta, np.sqrt(0.5 / p.var), None, const_of(p))
    return score_mixed(X, terms, CategoricalTerms(p.slots[:, at], p.table, p.table), wanted)


def joint(p, at, x=None):
    return oracles.joint(p.X[at] if x is None else x, p.prior, p.theta, p.var)


def joint_of_both(p, at, x=None):
    terms = [
        sum((oracles.decimal(oracles.exact(row[s])) for s in p.slots[:, at]), Decimal(0))
        for row in p.table
    ]
    return [a + b for a, b in zip(joint(p, at, x), terms, strict=True)]


class Case(NamedTuple):
    """A kernel, by rows and the numbers that their slots have in the problem; and its oracle."""

    score: Callable[[Problem, Any, Any, Wanted], Scores]
    joint: Callable[..., list[Decimal]]


CASES = {
    "diagonal": Case(score_diagonal, joint),
    "whitened": Case(score_axes, joint),
    "categorical": Case(score_both, joint_of_both),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def close(got: Any, want: Any, tolerance: float = 1e-12) -> bool:
    """Whether numbers agree with decimals, relative to the largest of them."""
    want = np.array([[float(v) for v in row] for row in want])
    return bool(np.allclose(got, want, rtol=0, atol=tolerance * max(1.0, np.abs(want).max())))


@pytest.mark.parametrize("n", SIZES)
def test_every_row_has_the_scores_of_the_oracle(case, problem, n):
    at = np.arange(n) % len(problem.X)
    exact = [case.joint(problem, i) for i in range(len(problem.X))]
    for order in "CF":
        X = np.array(problem.X[at], order=order)
        got = case.score(problem, X, at, Wanted(table="joint", evidence=True))
        assert got.bad == -1
        assert close(got.table, [exact[i] for i in at])
        assert close(got.evidence[None], [[oracles.log_evidence(exact[i]) for i in at]])
        assert got.codes.tolist() == [int(np.argmax(exact[i])) for i in at]
        # The same row has the same bits in a block, in the tail and in any lane.
        first = got.table[: len(problem.X)]
        assert got.table.tobytes() == first[at].tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("table", [None, "joint", "log_proba", "proba"])
def test_outputs_are_those_that_are_wanted(case, problem, table, dtype):
    at = np.arange(75) % len(problem.X)
    exact = [case.joint(problem, i) for i in at]
    logs = [oracles.log_proba(row) for row in exact]
    rows = {"joint": exact, "log_proba": logs, "proba": [[v.exp() for v in row] for row in logs]}
    for codes in (True, False):
        for evidence in (True, False):
            wanted = Wanted(codes, np.array([7, -1, 1 << 60]), table, evidence, dtype)
            got = case.score(problem, problem.X[at], at, wanted)
            best = [int(wanted.values[np.argmax(row)]) for row in exact]
            assert got.codes.dtype == np.int64
            assert got.codes.tolist() == (best if codes else [])
            assert (got.table is None) == (table is None)
            assert (got.evidence is None) == (not evidence)
            if table is not None:
                assert got.table.dtype == dtype
                assert close(got.table, rows[table], 4 * float(np.finfo(dtype).eps) + 1e-13)
            if evidence:
                assert close(got.evidence[None], [list(map(oracles.log_evidence, exact))])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("table", ["joint", "log_proba", "proba"])
def test_column_major_tables_have_the_bits_of_others(case, problem, table, dtype):
    for n in (1, 31, 32, 33, 75, 0):
        at = np.arange(n) % len(problem.X)
        wanted = Wanted(table=table, evidence=True, dtype=dtype)
        want = case.score(problem, problem.X[at], at, wanted)
        got = case.score(problem, problem.X[at], at, wanted._replace(column_major=True))
        assert got.table.dtype == dtype
        assert got.table.T.flags.c_contiguous
        assert got.table.shape == (n, K)
        assert got.table.tobytes() == want.table.tobytes()
        assert got.codes.tolist() == want.codes.tolist()
        assert got.evidence.tobytes() == want.evidence.tobytes()


def test_log_odds_are_row_major(case, problem):
    at = np.arange(75) % len(problem.X)
    wanted = Wanted(table="log_odds")
    want = case.score(problem, problem.X[at], at, wanted).table
    got = case.score(problem, problem.X[at], at, wanted._replace(column_major=True)).table
    assert got.tobytes() == want.tobytes()
    assert np.isfinite(got).all()


@pytest.mark.parametrize("place", [0, 5, 32, 38, BLOCK - 1, BLOCK + 3])
def test_a_row_whose_squares_overflow_belongs_to_the_nearest_classes(case, problem, place):
    n = BLOCK + 4
    at = np.arange(n) % len(problem.X)
    X = problem.X[at]
    plain = case.score(problem, X, at, Wanted(table="proba", evidence=True))
    X[place] = 1e200 * np.arange(1, D + 1)
    exact = case.joint(problem, at[place], X[place])
    got = case.score(problem, X, at, Wanted(table="proba", evidence=True))
    assert got.table[place].tolist() == [float(c == np.argmax(exact)) for c in range(K)]
    assert got.codes[place] == np.argmax(exact)
    assert got.evidence[place] == -np.inf
    others = np.arange(n) != place
    for name in ("codes", "table", "evidence"):
        assert getattr(got, name)[others].tobytes() == getattr(plain, name)[others].tobytes()
    assert np.isneginf(case.score(problem, X, at, Wanted(table="joint")).table[place]).all()
    labels = case.score(problem, X, at, Wanted(values=np.array([5, 6, 7]))).codes
    assert labels.tolist() == (got.codes + 5).tolist()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("places", [(0,), (37,), (38, 39), (BLOCK, BLOCK + 9), (3, 2 * BLOCK)])
def test_the_first_row_that_is_not_finite_is_named(case, problem, value, places):
    at = np.arange(2 * BLOCK + 10) % len(problem.X)
    X = problem.X[at]
    X[list(places), D - 1] = value
    assert case.score(problem, X, at, Wanted()).bad == places[0]


def test_chunks_of_a_buffer_have_the_bits_of_one_table(case, problem, monkeypatch):
    monkeypatch.setattr(chunks, "BUFFER_BYTES", 1)
    at = np.arange(5 * BLOCK + 9) % len(problem.X)
    X = problem.X[at]
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    wanted = Wanted(table="proba", evidence=True)
    want, got = (case.score(problem, rows, at, wanted) for rows in (X, wide))
    for a, b in zip(want[:3], got[:3], strict=True):
        assert a.tobytes() == b.tobytes()
    wide[[4 * BLOCK + 5, 5 * BLOCK], 0] = np.nan
    assert case.score(problem, wide, at, wanted).bad == 4 * BLOCK + 5


def test_no_rows(case, problem):
    got = case.score(problem, problem.X[:0], slice(0), Wanted(table="proba", evidence=True))
    assert (got.codes.shape, got.table.shape, got.evidence.shape) == ((0,), (0, K), (0,))
    assert got.bad == -1


MODULES = [categorical, diagonal, driver, outputs, overflow, posterior, whitened, panel_product]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_no_function_takes_more_than_eight_arguments(module):
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            given = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
            assert len(given) <= 8, node.name
