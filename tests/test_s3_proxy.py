"""The proxy before the S3 server of tests does to as many requests as a rule says."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from s3_server import Proxy, Request

pytestmark = pytest.mark.any_version


class Slow(Request):
    """A request at which another thread gets its turn while a rule looks at it."""

    def __str__(self) -> str:
        time.sleep(0.02)
        return super().__str__()


def test_a_rule_takes_as_many_requests_as_it_says_though_two_come_at_once():
    proxy = Proxy(0)
    rule = proxy.cut("GET /data/a", times=1)
    with ThreadPoolExecutor(2) as pool:
        taken = list(pool.map(proxy.rule_of, [Slow("GET", "/data/a", {}, b"")] * 2))
    assert sorted(map(id, taken)) == sorted([id(rule), id(None)])
    assert rule.used == 1
