"""The table of promises names the tests that hold them, and is current."""

from __future__ import annotations

import promises
import pytest

pytestmark = pytest.mark.any_version


def test_each_promise_is_held_by_a_test():
    assert set(promises.marked_tests()) == set(promises.PROMISES)


def test_the_table_is_current():
    if not promises.PAGE.exists():
        pytest.skip("the tests are installed without the docs")
    _, inside, _ = promises.parts()
    assert inside == promises.table(), "run `python -m tests.promises --write`"
