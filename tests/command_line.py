"""Run the `fastgnb` command in this process, as several test files do."""

from __future__ import annotations

from fastgnb.cli import main


def run(*words, code=0):
    assert main([str(word) for word in words]) == code


def fails(capsys, *words):
    """What a command that fails writes on standard error."""
    capsys.readouterr()
    run(*words, code=1)
    return capsys.readouterr().err
