"""Without threading layers, with options of all kinds, and isolated: the answers are right."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cache_cases import COMMANDS, DONE, GOOD, MODEL, THREADS, files_in
from installed import (
    CODES,
    COMPILED,
    ONE,
    PACKAGE,
    install,
    recorded,
    using,
)
from layers import FOR_LAYERS

pytestmark = [pytest.mark.compiled, pytest.mark.fresh]

if sys.platform == "win32":  # pragma: no cover
    pytest.skip("rights, limits and paths of this file are POSIX", allow_module_level=True)


def without(*layers: str) -> str:
    """Code after which these threading layers cannot be imported."""
    return "import sys\n" + "".join(
        f"sys.modules['numba.np.ufunc.{layer}'] = None\n" for layer in layers
    )


LAST_LAYER = without("omppool", "tbbpool"), "import numba; print(numba.threading_layer())"


def test_the_last_threading_layer_is_enough(python):
    out = python(MODEL.join(LAST_LAYER), NUMBA_NUM_THREADS="2")
    assert out == GOOD + "workqueue\n"


@pytest.mark.slow
def test_the_last_threading_layer_is_enough_to_compile(python, tmp_path):
    cache = {"NUMBA_NUM_THREADS": "2", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert python(THREADS.join(LAST_LAYER), **cache) == "True\nworkqueue\n"


NO_LAYER = {
    "none": (without("omppool", "tbbpool", "workqueue"), None),
    "not the one asked for": (without("tbbpool"), "tbb"),
    "none of that name": ("", "nothing"),
}


@pytest.mark.promise("degraded")
@pytest.mark.parametrize(
    "case", ["none", *(pytest.param(c, marks=pytest.mark.slow) for c in list(NO_LAYER)[1:])]
)
def test_without_a_threading_layer_own_threads_do_the_work(python, case):
    prelude, layer = NO_LAYER[case]
    code = (
        FOR_LAYERS + recorded(MODEL)
        + "print(threads.n_threads(), threads._process.pool is not None)"
    )  # fmt: skip
    out = python(prelude + code, NUMBA_NUM_THREADS="2", NUMBA_THREADING_LAYER=layer)
    assert out == f"{GOOD}2 True\n"


def test_without_a_threading_layer_warming_up_compiles_what_is_left(python):
    """Only the small kernels: the examples of those that are imported."""
    code = recorded(CODES + "print(warmup.compile_all())")
    out = python(without("omppool", "tbbpool", "workqueue") + code, NUMBA_NUM_THREADS="2")
    assert out == "[1, 0, 1]\n5\n"


@pytest.mark.promise("degraded")
def test_without_the_compiler_the_command_works(python, tmp_path):
    code = "import sys\n" + COMMANDS + "print(main(['warmup']))"
    out = python(code, str(tmp_path), NUMBA_DISABLE_JIT="1")
    assert out == DONE + "0 kernels: the compiler is switched off (NUMBA_DISABLE_JIT)\n0\n"


KINDS = [
    pytest.param({"NUMBA_NUM_THREADS": "1"}, marks=pytest.mark.slow),
    {"PYTHONWARNINGS": "error", "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"},
    *(
        # Without docstrings the bytecode is another, and all is compiled anew.
        pytest.param({"PYTHONOPTIMIZE": level}, marks=pytest.mark.slow)
        for level in ("1", "2")
    ),
]


@pytest.mark.parametrize("environment", KINDS, ids=str)
def test_interpreters_of_all_kinds(python, tmp_path, environment):
    code = "import sys\n" + MODEL + COMMANDS
    assert python(code, str(tmp_path), **environment) == GOOD + DONE


@pytest.mark.slow
def test_with_and_without_docstrings_kernels_are_compiled_once_each(python, tmp_path):
    where = {"NUMBA_CACHE_DIR": str(tmp_path)}
    for compiled in (1, 0):
        for level in ("", "2"):
            out = python(ONE + COMPILED, PYTHONOPTIMIZE=level, PYTHONWARNINGS="error", **where)
            assert out == f"[1, 3]\ncompiled {compiled}\n"


def test_a_path_with_spaces_and_letters_of_many_languages(python, tmp_path):
    where = install(tmp_path / "mes données – 数据 'x' %s")
    code = using(where, ONE + COMPILED)
    without_bytecode = {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": None}
    assert python(code, **without_bytecode) == "[1, 3]\ncompiled 1\n"
    assert python(code, **without_bytecode) == "[1, 3]\ncompiled 0\n"
    assert {file.suffix for file in files_in(where)} == {".py", ".nbc", ".typed"}


def test_an_isolated_interpreter(tmp_path):
    """`python -I` looks at no variable and no folder of the user's."""
    code = using(PACKAGE.parent, MODEL)
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, GOOD, "")
