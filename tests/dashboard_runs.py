"""Runs for tests of the dashboard: made up, with known changes, as many as wanted."""

from __future__ import annotations

import datetime

import numpy as np

from fastgnb.dashboard import Figure, Question, Run, Target, Task, compare

PROBLEMS = [f"{n} x {d} x {k}" for n in ("1M", "200k") for d, k in ((4, 3), (20, 10), (50, 100))]
OPERATIONS = ("fit", "predict", "predict_proba", "partial_fit", "grid search")
QUESTIONS = [Question("grid", "How fast is it?", "In rounds.", "Always.", "Because.")]


def synthetic(n_runs, n_figures=300, noise=0.03, seed=0):
    """Runs a day apart with so many figures each; half-way, the first task becomes twice as fast.

    Each task has four figures: fastgnb, scikit-learn, another library and the ceiling.
    """
    rng = np.random.default_rng(seed)
    tasks = [
        Task("grid", operation, problem, member, dtype, layout)
        for member in ("GaussianNB", "GaussianBayes")
        for dtype in ("float64", "float32")
        for layout in ("C", "F")
        for operation in OPERATIONS
        for problem in PROBLEMS
    ][: max(n_figures // 4, 1)]
    start = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
    return [
        _run(
            i,
            start + datetime.timedelta(days=i),
            tasks,
            2.0 if 2 * i >= n_runs else 1.0,
            noise,
            rng,
        )
        for i in range(n_runs)
    ]


def _run(i, date, tasks, faster, noise, rng):
    figures, comparisons = [], []
    for t, task in enumerate(tasks):
        first = len(figures)
        ours = 0.01 * (t + 1) / (faster if t == 0 else 1.0)
        for program, ratio in (
            ("fastgnb", 1),
            ("scikit-learn", 30),
            ("other", 0.8),
            ("ceiling", 0.5),
        ):
            level = ours if program == "fastgnb" else 0.01 * (t + 1) * ratio
            drift = np.exp(noise * rng.normal())
            rounds = level * drift * np.exp(noise * rng.normal(size=7))
            figures.append(Figure(task, program, rounds.tolist(), 1_000_000))
        comparisons += [
            compare(figures, first, first + 1, "scikit-learn"),
            compare(figures, first, first + 2, "other"),
            compare(figures, first, first + 3, "ceiling", kind="limit"),
        ]
    return Run(
        name=f"{date:%Y-%m-%dT%H%M%S}", date=date.isoformat(), commit=f"{i:010x}", dirty=i % 7 == 0,
        size="full", machine="a processor, 2 cores",
        facts=[("Processor", "a processor"), ("Load before", "0.10")], versions={"numpy": "2.4.6"},
        notes=["NOT TO BE QUOTED: other processes were busy."] if i % 50 == 49 else [],
        figures=figures, comparisons=comparisons,
        targets=[
            Target("fit against scikit-learn, worst", 10.0, 30.0 * faster, "x", False, True, "1M"),
            Target("predict, share of the ceiling", 0.6, 0.5, "", False, False, "memory"),
            Target("fit against other", None, 0.8, "x", False, None, ""),
        ],
    )  # fmt: skip
