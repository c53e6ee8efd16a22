"""Databases to run SQL in: SQLite everywhere, the others where they are installed."""

from __future__ import annotations

from collections.abc import Iterator

import databases
import pytest
from engines import need

DIALECTS = [
    "sqlite",
    pytest.param("duckdb", marks=pytest.mark.engine),
    pytest.param("postgres", marks=pytest.mark.engine),
]


@pytest.fixture(scope="session", params=DIALECTS)
def database(request: pytest.FixtureRequest) -> Iterator[databases.Database]:
    """A database, for tests that make the tables that they need."""
    if request.param == "postgres":
        need("postgres", "psycopg")
        with databases.postgres_server() as server:
            yield server
    elif request.param == "duckdb":
        need("duckdb")
        yield databases.DuckDB()
    else:
        yield databases.SQLite()
