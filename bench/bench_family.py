"""The family: each member beside its twin, full scatter, and cross-validation, answers checked."""

from __future__ import annotations

import pytest

from bench import family


@pytest.mark.parametrize("program", ["fastgnb", "twin"])
@pytest.mark.parametrize("work", ["fit", "predict"])
@pytest.mark.parametrize("member", family.MEMBERS, ids=lambda member: member.name)
def bench_member(benchmark, member, work, program, size, record, rounds):
    problem = family.SHAPES[size][0]
    calls = family.calls_of(member, *problem.data())
    answer = benchmark.pedantic(calls[work][program], rounds=rounds, warmup_rounds=1)
    if work == "predict" and program == "fastgnb":
        family.check(member, answer, calls[work]["twin"]())
    record(problem, f"{member.name}: {member.twin if program == 'twin' else program}")


def bench_full_scatter(benchmark, size, record, rounds):
    (problem, calls) = next(family.scatter_calls(size))
    found = benchmark.pedantic(calls["fastgnb"], rounds=rounds, warmup_rounds=1)
    family.check_scatter(found, calls["twin"]())
    record(problem, "fastgnb")


@pytest.mark.parametrize("program", ["fastgnb", "twin"])
@pytest.mark.parametrize("name", ["GaussianNB", "GaussianBayes"])
def bench_cross_validation(benchmark, name, program, size, record, rounds):
    problem, calls = family.selection_calls(size)[name]
    scores = benchmark.pedantic(calls[program], rounds=rounds, warmup_rounds=1)
    if program == "fastgnb":
        family.check_scores(scores, calls["twin"]())
    record(problem, program)


@pytest.mark.parametrize("program", ["fastgnb", "twin"])
@pytest.mark.parametrize("work", ["fit", "predict"])
def bench_mixed(benchmark, work, program, size, record, rounds):
    problem, calls = next(family.mixed_calls(size))
    answer = benchmark.pedantic(calls[work][program], rounds=rounds, warmup_rounds=1)
    if work == "predict" and program == "fastgnb":
        family.check(family.MIXED, answer, calls[work]["twin"]())
    record(problem, f"{family.MIXED.name}: {program}")
