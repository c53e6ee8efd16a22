"""The table of members that tests go through is complete."""

from __future__ import annotations

from members import CASES, GRIDS, SHAPES

import fastgnb
from fastgnb.model.family import MEMBERS


def test_every_member_is_in_the_tables():
    assert {case.member for case in CASES.values()} == set(MEMBERS)
    assert {case.member for case in SHAPES.values()} == set(MEMBERS)
    assert set(GRIDS) == set(MEMBERS)


def test_every_option_of_a_member_is_set_in_a_case():
    for member in MEMBERS:
        wanted = set(getattr(fastgnb, member)().get_params()) - {"priors"}
        cases = [case for case in CASES.values() if case.member == member]
        assert {name for case in cases for name in case.options} == wanted
