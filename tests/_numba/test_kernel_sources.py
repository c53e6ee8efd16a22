"""Which modules the code of a kernel is made from."""

from __future__ import annotations

import pytest

from fastgnb._numba import sources
from fastgnb._numba.warmup import WARMUP_CALLS
from fastgnb.kernels import import_all

pytestmark = pytest.mark.any_version

import_all()
KERNELS = sorted({call.function.__module__ for call in WARMUP_CALLS})

IMPORTED = """
import importlib, sys
import numpy, numba
for kernel in sys.argv[1:]:
    for name in [name for name in sys.modules if name.startswith("fastgnb")]:
        del sys.modules[name]
    importlib.import_module(kernel)
    print(*[name for name in sys.modules if name.startswith("fastgnb.")])
"""


@pytest.mark.fresh
def test_they_are_all_that_the_module_of_the_kernel_imports(python):
    lines = python(IMPORTED, *KERNELS).splitlines()
    assert len(lines) == len(KERNELS) > 10
    for kernel, line in zip(KERNELS, lines, strict=True):
        imported = set(line.split()).intersection(sources._modules())
        assert kernel in imported
        assert imported <= set(sources.modules_of_kernel(kernel)), kernel


def test_imports_within_functions_count():
    """`diagonal` imports `certified` so, which calls kernels of its own."""
    assert "fastgnb.kernels.score.certified" in sources._imports("fastgnb.kernels.score.diagonal")


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("from . import merge, full as f\n", ["learn.full", "learn.merge"]),
        ("from .merge import Parts\n", ["learn.merge"]),
        ("from ..rows import (\n    Rows,\n    round_up,\n)\n", ["rows"]),
        ("from .. import rows  # text\n", ["rows"]),
        ("if True:\n    from ..score import driver\n", ["score.driver"]),
        ("import numpy\nfrom numpy import rows\nfrom ...stats import merging\n", []),
    ],
)
def test_an_import_of_every_form_counts(monkeypatch, text, modules):
    monkeypatch.setattr(sources, "_source", lambda module: text)
    found = sources._imports.__wrapped__("fastgnb.kernels.learn.encode")
    assert found == [f"fastgnb.kernels.{name}" for name in modules]


def test_without_sources_every_module_counts(monkeypatch):
    monkeypatch.setattr(sources, "_source", lambda module: None)
    everything = sources._modules()
    assert sources.modules_of_kernel("fastgnb.kernels.logs") == everything
    assert len(sources.digest_of_kernel("fastgnb.kernels.logs")) == 64


def test_code_outside_the_package_is_made_from_every_module():
    assert sources.modules_of_kernel("somebody.elses") == sources._modules()
