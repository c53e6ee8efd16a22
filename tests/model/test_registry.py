"""Options are declared once, in the registry, and everything else says the same."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import fastgnb
from fastgnb.cli.parser import build_parser
from fastgnb.estimators.member_classes import constraints_of, estimator_of
from fastgnb.model import family
from fastgnb.model.family import MEMBERS
from fastgnb.model.options import ArrayLike, Flag, Nothing, Number, OneOf, Option, Whole, Words

PACKAGE = Path(fastgnb.__file__).parent


@pytest.mark.parametrize("name", MEMBERS)
def test_constructors_have_the_options_of_the_registry(name):
    """Their names, order and defaults."""
    parameters = inspect.signature(estimator_of(MEMBERS[name])).parameters.values()
    found = {each.name: each.default for each in parameters}
    assert list(found.items()) == list(MEMBERS[name].defaults.items())
    assert all(each.kind is each.KEYWORD_ONLY for each in parameters)


@pytest.mark.parametrize("name", MEMBERS)
def test_scikit_learn_checks_what_the_registry_says(name):
    model = estimator_of(MEMBERS[name])()
    assert model._parameter_constraints.keys() == model.get_params().keys()
    assert set(constraints_of(MEMBERS[name])) == set(model.get_params())
    model._validate_params()


@pytest.mark.parametrize("name", MEMBERS)
def test_every_default_is_allowed(name):
    MEMBERS[name].check(MEMBERS[name].defaults)
    assert all(option.help for option in MEMBERS[name].options)


@pytest.mark.parametrize(
    ("values", "good", "bad", "text"),
    [
        ((Words(("a", "b")),), ["a"], ["c", None, [], 1], r"one of \['a', 'b'\]"),
        ((Flag(),), [True, np.False_], [0, None, "True"], "True or False"),
        ((OneOf((0, 1)),), [0, 1, np.int8(1), 1.0], [True, 2, "0", None], "0 or 1"),
        ((Whole(1),), [1, np.int64(7), 10**400], [0, 1.0, True, None], "a whole number from 1 up"),
        ((Number(0, 1),), [0, 1.0, np.float32(0.5)], [1.5, True, np.nan, 10**400], "from 0 to 1"),
        ((Number(0),), [0, 1e308], [-1, np.inf, True], "a number from 0 up"),
        ((Number(0, takes_bool=True),), [True, 0], [-1], "a number from 0 up"),
        ((Number(0, 1, is_open=True),), [0.5], [0, 1, True], "a number between 0 and 1"),
        ((Nothing(), Whole(1)), [None, 1], [0], "None or a whole number from 1 up"),
        (
            (Whole(1), Number(0, 1, is_open=True), Nothing()), [None, 0.5, 3], [0, 1.5],
            "None, a whole number from 1 up, or a number between 0 and 1",
        ),
        ((Words(("oas",)), Nothing()), ["oas", None], ["lw"], "None or 'oas'"),
        ((ArrayLike(),), [[1], None], [], ""),
    ],
)  # fmt: skip
def test_values(values, good, bad, text):
    option = Option("name", good[0], values, "help")
    for value in good:
        option.check(value)
    for value in bad:
        with pytest.raises(ValueError, match=f"^name must be .*{text}, got "):
            option.check(value)


def test_the_command_line_has_every_option():
    parser = build_parser()
    commands = next(a for a in parser._actions if hasattr(a, "choices") and a.choices)
    fit = {action.dest: action for action in commands.choices["fit"]._actions}
    for name, options in family.all_options().items():
        assert next(iter(options.values())).option_string in fit[name].option_strings
    assert fit["model_type"].choices == list(MEMBERS)


def test_the_readme_has_the_table_of_the_registry():
    readme = (PACKAGE.parent / "README.md").read_text(encoding="utf-8")
    part = readme.partition("<!-- family:begin -->")[2].partition("<!-- family:end -->")[0]
    assert part.strip() == family.markdown_table()


def _names_of_members(tree):
    """Comparisons with, and matches of, the name of a member."""
    for node in ast.walk(tree):
        parts = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            parts = node.args[1:]
        for part in parts:
            for each in ast.walk(part):
                name = getattr(each, "value", None) if isinstance(each, ast.Constant) else None
                name = each.id if isinstance(each, ast.Name) else name
                if name in MEMBERS:
                    yield node.lineno


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_no_comparison_with_a_member(path):
    """The registry says what differs between members: nothing else asks which one it is."""
    assert list(_names_of_members(ast.parse(path.read_text()))) == []


def test_names_of_members_are_found():
    for code in ('x == "MixedNB"', "isinstance(m, GaussianNB)", 'm.name in ("a", "GaussianBayes")'):
        assert list(_names_of_members(ast.parse(code))) == [1]
