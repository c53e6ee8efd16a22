"""The option --size, and what each benchmark records besides its times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import pytest

from bench import ceilings, environment, problems
from bench.problems import Problem
from bench.rivals import Rival

ROUNDS = {"toy": 1, "quick": 3, "full": 7}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--size", choices=problems.SIZES, default="quick", help="size of problems")


@pytest.fixture(scope="session")
def size(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--size"))


@pytest.fixture
def rounds(size: str) -> int:
    return ROUNDS[size]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Problems of the requested size: the grid, or those of the module's PROBLEMS."""
    if "problem" in metafunc.fixturenames:
        of_size = getattr(metafunc.module, "PROBLEMS", _both_types)
        table = of_size(metafunc.config.getoption("--size"))
        metafunc.parametrize("problem", table, ids=[p.name.replace(" ", "-") for p in table])


def _both_types(size: str) -> list[Problem]:
    return [p for dtype in ("float64", "float32") for p in problems.grid(size, dtype)]


@pytest.fixture
def usable() -> Callable[[Rival, Problem], None]:
    """Skip a library that is not installed, or that does not accept the problem."""

    def check(rival: Rival, problem: Problem) -> None:
        if rival.missing:
            pytest.skip(f"{rival.name}: not installed: {', '.join(rival.missing)}")
        if problem.labels != "int" and not rival.text_labels:
            pytest.skip(f"{rival.name}: takes integer labels only")

    return check


@pytest.fixture
def record(benchmark: Any) -> Callable[..., None]:
    """Write problem, program, machine and share of the ceiling into a benchmark's extra_info.

    `ceiling` returns the least seconds that the machine needs. It is called only where times were
    measured, which they are not in a run for correctness.
    """

    def write(problem: Problem, rival: str, ceiling: Callable[[], float] | None = None) -> None:
        benchmark.group = f"{benchmark.group or ''} {problem.name}".strip()
        benchmark.extra_info.update(environment.describe())
        benchmark.extra_info.update(problem._asdict(), rival=rival)
        if benchmark.stats is None or ceiling is None:
            return
        rates = ceilings.machine(numba.get_num_threads())
        benchmark.extra_info.update(
            ceilings=rates._asdict(),
            share_of_ceiling=ceiling() / benchmark.stats.stats.median,
        )

    return write
