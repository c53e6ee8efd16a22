"""The language of conditions: what is read, and where an error is."""

from __future__ import annotations

import pytest

from fastgnb import files
from fastgnb.files.tables.where_text import WhereError, parse_where
from fastgnb.files.tables.where_tree import (
    And,
    Bounds,
    Columns,
    Compare,
    In,
    IsNull,
    Or,
    columns_of,
    may_hold,
    negated,
    reduced,
)

pytestmark = pytest.mark.any_version


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x > 1", Compare("x", ">", 1, 0)),
        ("x>-1.5e3", Compare("x", ">", -1500.0, 0)),
        ("1 <= x", Compare("x", ">=", 1, 0)),
        ("x = 1", Compare("x", "==", 1, 0)),
        ("x <> 'a'", Compare("x", "!=", "a", 0)),
        ('x == "it\'s"', Compare("x", "==", "it's", 0)),
        ("x == 'it''s'", Compare("x", "==", "it's", 0)),
        ("`unit ``price`` €` < .5", Compare("unit `price` €", "<", 0.5, 0)),
        ("`and` == TRUE", Compare("and", "==", True, 0)),
        ("größe < other", Columns("größe", "<", "other", 0)),
        ("0 < x <= y", And((Compare("x", ">", 0, 0), Columns("x", "<=", "y", 0)))),
        ("x in (1, 'a')", In("x", (1, "a"), False, 0)),
        ("x NOT IN [true,-2]", In("x", (True, -2), True, 0)),
        ("x is null", IsNull("x", False, 0)),
        ("x Is Not Null", IsNull("x", True, 0)),
        ("not x is null", IsNull("x", True, 4)),
        ("not not x < 1", Compare("x", "<", 1, 8)),
        (
            "a < 1 or b < 2 and c < 3",
            Or((Compare("a", "<", 1, 0),
                And((Compare("b", "<", 2, 9), Compare("c", "<", 3, 19))))),
        ),
        (
            "not (a < 1 or b in (2)) and c == d",
            And((And((Compare("a", ">=", 1, 5), In("b", (2,), True, 14))),
                 Columns("c", "==", "d", 28))),
        ),
    ],
)  # fmt: skip
def test_trees(text, tree):
    assert parse_where(text) == tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "position 1: expected a column, got the end"),
        ("   ", "position 4: expected a column, got the end"),
        ("x", "position 2: expected a comparison, in or is, got the end"),
        ("x >", "position 4: expected a value or a column, got the end"),
        ("x > > 1", "position 5: expected a value or a column, got '>'"),
        ("1 < 2", "position 1: a comparison needs a column; its name is written without quotes"),
        ("'x' < 2", "position 1: a comparison needs a column; its name is written without quotes"),
        ("x in ()", r"position 7: expected a value, got '\)'"),
        ("x in 1", r"position 6: expected \( and values, got '1'"),
        ("x in (1, 2", "position 11: expected , or the end of the values, got the end"),
        ("x in (1, 2]", "position 11: expected , or the end of the values, got ']'"),
        ("x in (east)", "position 7: expected a value; a text is in quotes: 'east'"),
        ("x == null", "position 6: a missing value is tested by is null or is not null"),
        ("x is 3", "position 6: expected null or not null, got '3'"),
        ("x not 3", "position 7: expected in, got '3'"),
        ("x > 1 y", "position 7: expected and, or, or the end, got 'y'"),
        ("x > 1 and", "position 10: expected a column, got the end"),
        ("(x > 1", r"position 7: expected and, or, or \), got the end"),
        ("x > 1)", r"position 6: expected and, or, or the end, got '\)'"),
        ("x > 1 & y > 2", "position 7: unexpected '&', say and"),
        ("x > 1 || y > 2", "position 7: unexpected '|', say or"),
        ("!x", "position 1: unexpected '!', say not"),
        ("x + 1 > 2", r"position 3: unexpected '\+', no arithmetic"),
        ("x == 'a", 'position 6: unexpected "\'", no quote ends the text'),
        ("`x > 1", "position 1: unexpected '`', no ` ends the name"),
        ("a.b > 1", "position 2: unexpected '.', a name that holds more than letters and digits"),
        ("x > 1; import os", "position 6: unexpected ';'"),
        ("x > 12abc", "position 5: unexpected '1'"),
        ("__import__('os')", r"position 11: expected a comparison, in or is, got '\('"),
        ("x > 0x10", "position 5: unexpected '0'"),
        ("(" * 60 + "x > 1" + ")" * 60, "position 52: more than 50 parentheses"),
        ("x > " + "9" * 5000, "position 5: a number of more than 400 digits"),
        ("x > 1 \0", "position 7: unexpected '\\\\x00'"),
    ],
)
def test_errors_have_a_position(text, message):
    with pytest.raises(WhereError, match=rf"^--where .*: {message}"):
        parse_where(text)


def test_a_long_condition_is_shortened_and_read_in_linear_depth():
    with pytest.raises(WhereError) as caught:
        parse_where("x > 1 and " * 2_000)
    assert len(str(caught.value)) < 300
    assert len(parse_where(" and ".join(["x > 1"] * 2_000)).parts) == 2_000
    assert parse_where("not " * 20_001 + "x > 1") == Compare("x", "<=", 1, 80_004)


def test_errors_from_python(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,a\n2,b\n")
    with pytest.raises(ValueError, match="position 5: expected a value or a column, got the end"):
        files.fit(tmp_path / "d.csv", target="y", where="x > ")
    with pytest.raises(TypeError, match="where must be a text such as 'year >= 2026', got 3"):
        files.fit(tmp_path / "d.csv", target="y", where=3)


TEXTS = [
    "x < 3", "x <= 3", "x > 3", "x >= 3", "x == 3", "x != 3", "x in (1, 5)", "x not in (1, 5)",
    "x is null", "x is not null", "x < 2 or x > 4", "x > 1 and x != 3", "not (x > 1 and x != 3)",
    "1 < x < 4", "x > 2.5", "x == 2.5", "x < 'a'",
]  # fmt: skip


def holds(node, value):
    """The slow oracle of one value: three-valued logic by Python's comparisons."""
    if isinstance(node, And):
        return all(holds(part, value) for part in node.parts)
    if isinstance(node, Or):
        return any(holds(part, value) for part in node.parts)
    if isinstance(node, IsNull):
        return (value is not None) == node.out
    if value is None or isinstance(getattr(node, "value", 0), str):
        return False
    if isinstance(node, In):
        return (value in node.values) != node.out
    compare = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
    if node.op in compare:
        return getattr(float(value), compare[node.op])(float(node.value))
    return (value == node.value) == (node.op == "==")


@pytest.mark.parametrize("text", TEXTS)
def test_bounds_never_rule_out_a_row_that_holds(text):
    """All sets of up to three values of a few: where no bound allows it, no row meets it."""
    node, values = parse_where(text), [None, 0, 1, 2, 3, 4, 5, 6]
    ruled_out = 0
    for a in values:
        for b in values:
            for c in values:
                group = [a, b, c]
                valid = [value for value in group if value is not None]
                least, most = (min(valid), max(valid)) if valid else (None, None)
                bounds = Bounds(least, most, bool(valid), None in group)
                if not may_hold(node, {"x": bounds}):
                    ruled_out += 1
                    assert not any(holds(node, value) for value in group), (group, text)
    assert ruled_out or "'" in text


@pytest.mark.parametrize("text", TEXTS[:-1])
def test_bounds_of_one_value_decide(text):
    node = parse_where(text)
    for value in [None, 0, 1, 2, 3, 4, 5, 6]:
        assert may_hold(node, {"x": Bounds.of(value)}) == holds(node, value), value


@pytest.mark.parametrize("text", TEXTS[:-1])
def test_the_negation_holds_where_the_condition_does_not_but_for_missing_values(text):
    node = parse_where(text)
    for value in [0, 1, 2, 3, 4, 5, 6]:
        assert holds(negated(node), value) != holds(node, value)
    if "null" not in text:
        assert not holds(negated(node), None)
    assert negated(negated(node)) == node


def test_parts_that_are_known_are_left_out():
    node = parse_where("year > 2 and (x < 1 or month == 3)")

    def known(year, month):
        return lambda leaf: {"year": year, "month": month}.get(leaf.column)

    assert reduced(node, known(False, None)) is False
    assert reduced(node, known(True, True)) is True
    assert reduced(node, known(True, False)) == Compare("x", "<", 1, 14)
    assert reduced(node, known(None, True)) == Compare("year", ">", 2, 0)
    assert reduced(node, lambda leaf: None) == node
    assert columns_of(node) == ["year", "x", "month"]
