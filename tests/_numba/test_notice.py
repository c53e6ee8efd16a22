"""Before kernels are compiled there is one line on standard error, once a process, or none."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from children import finished
from installed import HASHED, ONE, PACKAGE

from fastgnb import kernels
from fastgnb._numba.notice import note_kernel
from fastgnb.cli import warmup as cli_warmup

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]

CODE = ONE + HASHED


@pytest.fixture
def shown(tmp_path):
    """Run code in a process with an empty cache; what it writes on standard error."""

    def run(code: str = CODE, **env: str) -> str:
        environment = dict(
            os.environ, PYTHONPATH=str(PACKAGE.parent), NUMBA_CACHE_DIR=str(tmp_path / "cache")
        )
        environment.pop("FASTGNB_QUIET", None)
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment | env, capture_output=True, text=True,
            timeout=900, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run


def test_one_line_before_compiling_and_none_when_all_is_cached(shown, tmp_path):
    err = shown()
    assert err.startswith("fastgnb: compiling kernels once, about 20 s; cached in ")
    assert str(tmp_path / "cache") in err
    assert err.count("\n") == 1
    assert shown() == ""


def test_it_comes_before_the_first_answer(shown):
    code = "import sys; sys.stdout = sys.stderr\n" + ONE
    first, second = shown(code).splitlines()
    assert first.startswith("fastgnb: compiling kernels")
    assert second == "[1, 3]"


def test_output_that_holds_standard_error_too_is_left_alone(tmp_path):
    """As of `python program.py 2>&1 | reader`, or of tests that compare all that is printed."""
    environment = dict(
        os.environ, PYTHONPATH=str(PACKAGE.parent), NUMBA_CACHE_DIR=str(tmp_path / "cache")
    )
    environment.pop("FASTGNB_QUIET", None)
    done = finished(
        [sys.executable, "-c", ONE], env=environment, capture_output=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.stdout == "[1, 3]\n"


@pytest.mark.parametrize("way", ["variable", "level", "disabled", "no stderr"])
def test_it_can_be_switched_off(shown, way):
    code = {
        "level": "import logging; logging.getLogger('fastgnb').setLevel(logging.ERROR)\n",
        "disabled": "import logging; logging.disable()\n",
        "no stderr": "import sys; sys.stderr = None\n",
    }.get(way, "")
    assert shown(code + ONE, FASTGNB_QUIET="1" if way == "variable" else "0") == ""


def test_a_program_with_logging_of_its_own_gets_a_record(shown):
    code = (
        "import logging, sys\n"
        "logging.basicConfig(format='%(name)s %(levelname)s %(message)s', stream=sys.stderr)\n"
    )
    assert shown(code + ONE).startswith("fastgnb WARNING fastgnb: compiling kernels once")


def test_without_a_cache_it_says_that_each_process_compiles(shown):
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from fastgnb._numba import cache\n"
        "cache._candidates = lambda *args: iter(())\n"
    )
    line = "fastgnb: compiling kernels in each process, about 20 s; cannot be cached\n"
    assert shown(code + ONE) == line


COMMAND = """
import pathlib
from fastgnb.cli import main
folder = pathlib.Path({folder!r})
(folder / "rows.csv").write_text("x,y\\n1,a\\n2,b\\n4,a\\n8,b\\n")
words = ["--target", "y", "--model", str(folder / "m"), *{words}]
assert main(["fit", str(folder / "rows.csv"), *words]) == 0
"""


def test_a_command_says_it_unless_it_is_to_be_quiet(shown, tmp_path):
    code = COMMAND.format(folder=str(tmp_path), words=["--quiet"])
    assert shown(code) == ""
    code = COMMAND.format(folder=str(tmp_path), words=[])
    assert "compiling" not in shown(code)  # all is cached by now
    next((tmp_path / "cache").rglob("*.nbc")).unlink()  # one kernel is not
    assert "fastgnb: compiling kernels once" in shown(code)


def test_warming_up_reports_progress_and_the_cache(shown, tmp_path):
    code = """
from fastgnb import kernels
from fastgnb.cli import warmup as cli_warmup
from fastgnb._numba import warmup
from fastgnb.kernels import logs
from fastgnb.kernels.learn import encode
cli_warmup.SECONDS = 0.0
kernels.import_all = lambda: None  # those of two small files
kernels.warmup = warmup.compile_all
print(cli_warmup.compile_all(), warmup.n_variants(), file=__import__("sys").stderr)
"""
    first, *steps, last = shown(code).splitlines()
    assert first.startswith("fastgnb: compiling kernels once")
    assert steps[0] == f"fastgnb: compiling kernels: 1 of {last.split()[-1]}"
    assert len(steps) >= 3
    assert f"{len(steps)} compiled, 0 loaded; cache in {tmp_path / 'cache'}" in last
    *_, last = shown(code).splitlines()
    assert f"0 compiled, {len(steps)} loaded; cache in {tmp_path / 'cache'}" in last


def test_warming_up_shows_a_bar_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.delenv("FASTGNB_QUIET")

    def warm():
        for _ in range(3):
            note_kernel(compiling=True, folder="here")
        return 3

    monkeypatch.setattr(kernels, "warmup", warm)
    monkeypatch.setattr(cli_warmup, "n_variants", lambda: 3)
    cli_warmup.compile_all()
    assert "3/3" in terminal.getvalue()
    assert "about 20 s" not in terminal.getvalue()
