"""Start-up: imports, the first answer of a saved model, first calls cold and cached."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench import answers, fresh, problems, rivals

FIRST_FIT = """
import json, sys, time
import numpy as np
from fastgnb import GaussianNB
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
start = time.perf_counter()
model = GaussianNB().fit(X, y)
fitted = time.perf_counter()
labels = model.predict(X)
print(json.dumps({"fit": fitted - start, "predict": time.perf_counter() - fitted,
                  "labels": labels.tolist()}))
"""


def PROBLEMS(size):
    return [problems.standard("toy")]


@pytest.fixture(scope="module")
def service(size, tmp_path_factory):
    """A saved model, its rows and labels, and a cache of compiled kernels, in a folder."""
    folder = tmp_path_factory.mktemp("service")
    return fresh.service(problems.standard("toy"), folder, own_cache=size != "toy")


MODULES = ["numpy", "fastgnb", "fastgnb.estimators.naive_bayes", "sklearn.naive_bayes"]


@pytest.mark.parametrize("module", MODULES)
def bench_import(benchmark, module, problem, rounds, record):
    run = benchmark.pedantic(fresh.python, (fresh.IMPORT, module), rounds=rounds)
    assert run.found["seconds"] < run.seconds
    record(problem, module)
    benchmark.extra_info["seconds_inside"] = run.found["seconds"]


def bench_interpreter(benchmark, problem, rounds, record):
    benchmark.pedantic(fresh.python, (fresh.NOTHING,), rounds=rounds)
    record(problem, "python")


def bench_first_predict(benchmark, service, problem, rounds, record):
    call = benchmark.pedantic(service.first_predict, rounds=rounds)
    answers.check_labels(np.array(call.found["labels"]), rivals.OURS, problem)
    record(problem, "fastgnb")
    benchmark.extra_info["parts"] = json.dumps(call.found["parts"])


@pytest.mark.parametrize("cache", ["cold", "cached"])
def bench_first_calls(benchmark, service, problem, cache, size, tmp_path, record):
    if size == "toy":
        pytest.skip("compiles for many seconds; the toy size is for correctness")
    folder = tmp_path if cache == "cold" else service.cache
    words = (FIRST_FIT, service.X, service.y)
    if cache == "cached":
        fresh.python(*words, cache=folder)
    run = benchmark.pedantic(fresh.python, words, {"cache": folder}, rounds=1)
    answers.check_labels(np.array(run.found["labels"]), rivals.OURS, problem)
    record(problem, "fastgnb")
    benchmark.extra_info.update(fit=run.found["fit"], predict=run.found["predict"])


def bench_warmup_cold(benchmark, problem, size, tmp_path, record):
    if size == "toy":
        pytest.skip("compiles for many seconds; the toy size is for correctness")
    run = benchmark.pedantic(fresh.command, ("warmup",), {"cache": tmp_path}, rounds=1)
    assert "compiled" in run.found["printed"]
    record(problem, "fastgnb")
