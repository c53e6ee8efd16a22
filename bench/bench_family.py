"""Members of the family and their counterparts, full scatter, and grid search."""

from __future__ import annotations

import pytest

from bench import family, selection

PROGRAMS = [family.OURS, family.THEIRS]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("work", ["fit", "predict"])
@pytest.mark.parametrize("member", family.MEMBERS, ids=lambda member: member.name)
def bench_member(benchmark, member, work, program, size, record, rounds):
    problem = family.SHAPES[size][0]
    calls = family.calls_of(member, problem)[work]
    result = benchmark.pedantic(calls[program], rounds=rounds, warmup_rounds=1)
    if work == "predict" and program == family.OURS:
        family.check(member, result, calls[family.THEIRS]())
    record(problem, member.counterpart if program == family.THEIRS else member.name)


@pytest.mark.parametrize("program", PROGRAMS)
def bench_full_scatter(benchmark, program, size, record, rounds):
    problem = family.SHAPES[size][0]
    calls = family.scatter_calls(problem)
    result = benchmark.pedantic(calls[program], rounds=rounds, warmup_rounds=1)
    if program == family.OURS:
        family.check_scatter(result, calls[family.THEIRS]())
    record(problem, program)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", selection.GRIDS)
def bench_grid_search(benchmark, name, program, size, record, rounds):
    problem = selection.problem_of(size)
    calls = selection.search_calls(name, problem)
    scores = benchmark.pedantic(calls[program], rounds=rounds, warmup_rounds=1)
    if program == family.OURS:
        selection.check_scores(scores, calls[family.THEIRS]())
    record(problem, program)
