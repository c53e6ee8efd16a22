"""Start-up: imports, the first prediction of a saved model, first calls cold and cached."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench import checks, problems, rivals, snippets

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
    """A folder with a saved model, its rows and labels, and a cache of compiled kernels."""
    folder = tmp_path_factory.mktemp("service")
    return snippets.service(problems.standard("toy"), folder, own_cache=size != "toy")


MODULES = ["numpy", "fastgnb", "fastgnb:GaussianNB", "sklearn.naive_bayes"]


@pytest.mark.parametrize("module", MODULES)
def bench_import(benchmark, module, problem, rounds, record):
    run = benchmark.pedantic(snippets.python, (snippets.IMPORT, module), rounds=rounds)
    assert run.output["seconds"] < run.seconds
    record(problem, module)
    benchmark.extra_info["seconds_inside"] = run.output["seconds"]


def bench_interpreter(benchmark, problem, rounds, record):
    benchmark.pedantic(snippets.python, (snippets.NOTHING,), rounds=rounds)
    record(problem, "python")


def bench_first_predict(benchmark, service, problem, rounds, record):
    call = benchmark.pedantic(service.first_predict, rounds=rounds)
    checks.check_labels(np.array(call.output["labels"]), rivals.OURS, problem)
    record(problem, "fastgnb")
    benchmark.extra_info["steps"] = json.dumps(call.output["steps"])


@pytest.mark.parametrize("cache", ["cold", "cached"])
def bench_first_calls(benchmark, service, problem, cache, size, tmp_path, record):
    if size == "toy":
        pytest.skip("compiles for many seconds; the toy size is for correctness")
    folder = tmp_path if cache == "cold" else service.cache
    words = (FIRST_FIT, service.X, service.y)
    if cache == "cached":
        snippets.python(*words, cache=folder)
    run = benchmark.pedantic(snippets.python, words, {"cache": folder}, rounds=1)
    checks.check_labels(np.array(run.output["labels"]), rivals.OURS, problem)
    record(problem, "fastgnb")
    benchmark.extra_info.update(fit=run.output["fit"], predict=run.output["predict"])


def bench_warmup_cold(benchmark, problem, size, tmp_path, record):
    if size == "toy":
        pytest.skip("compiles for many seconds; the toy size is for correctness")
    run = benchmark.pedantic(snippets.command, ("warmup",), {"cache": tmp_path}, rounds=1)
    assert "compiled" in run.output["printed"]
    record(problem, "fastgnb")
