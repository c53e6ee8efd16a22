"""Databases that run SQL in tests: SQLite, DuckDB, and a PostgreSQL server of their own."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from children import PATIENCE, finished


def plain(value: Any) -> Any:
    """A value as Python has it; NaN stays NaN, None is NULL."""
    return value.item() if isinstance(value, np.generic) else value


def rows_of(columns: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return list(zip(*[[plain(v) for v in values] for values in columns.values()], strict=True))


class Database:
    """A table of rows, and queries on it."""

    dialect: str
    quote = '"'
    types = {"f": "DOUBLE PRECISION", "i": "BIGINT", "b": "BOOLEAN", "O": "TEXT"}  # noqa: RUF012

    def run(self, query: str) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def insert(self, table: str, columns: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def name(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def table(self, name: str, columns: Mapping[str, Any], **types: str) -> None:
        """Make a table of columns. Types are those of NumPy, but for `types`."""
        columns = {key: np.asarray(values) for key, values in columns.items()}
        kinds = {key: types.get(key, self.types[v.dtype.kind]) for key, v in columns.items()}
        body = ", ".join(f"{self.name(key)} {kind}" for key, kind in kinds.items())
        self.run(f"DROP TABLE IF EXISTS {self.name(name)}")
        self.run(f"CREATE TABLE {self.name(name)} ({body})")
        self.insert(name, columns)


class SQLite(Database):
    dialect = "sqlite"

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")

    def run(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def insert(self, table: str, columns: Mapping[str, Any]) -> None:
        marks = ", ".join("?" * len(columns))
        statement = f"INSERT INTO {self.name(table)} VALUES ({marks})"
        self.connection.executemany(statement, rows_of(columns))


class DuckDB(Database):
    dialect = "duckdb"

    def __init__(self) -> None:
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 2")

    def run(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def insert(self, table: str, columns: Mapping[str, Any]) -> None:
        import pyarrow as pa

        arrays = [pa.array([plain(v) for v in values]) for values in columns.values()]
        rows = pa.Table.from_arrays(arrays, names=[f"c{i}" for i in range(len(arrays))])
        self.connection.register("given", rows)
        self.connection.execute(f"INSERT INTO {self.name(table)} SELECT * FROM given")
        self.connection.unregister("given")


class PostgreSQL(Database):
    dialect = "postgres"

    def __init__(self, folder: str) -> None:
        import psycopg

        self.connection = psycopg.connect(
            host=folder, user="postgres", dbname="postgres", autocommit=True
        )

    def run(self, query: str) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(query.encode())  # text would have % looked at
        return cursor.fetchall() if cursor.description else []

    def insert(self, table: str, columns: Mapping[str, Any]) -> None:
        copy = f"COPY {self.name(table)} FROM STDIN"
        with self.connection.cursor() as cursor, cursor.copy(copy) as to:
            for row in rows_of(columns):
                to.write_row(row)


def postgres_programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, or None."""
    found = (
        shutil.which("pg_ctl")
        or (sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_ctl")) or [None])[-1]
    )
    return Path(found).resolve().parent if found else None


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgreSQL]:
    """A server on a socket in a temporary folder, which ends and goes with the block."""
    programs = postgres_programs()
    assert programs is not None, "PostgreSQL is not installed: apt-get install postgresql"
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as folder:
        # It refuses to run as root.
        user = {"user": "nobody"} if os.geteuid() == 0 else {}
        if user:
            shutil.chown(folder, "nobody")
        data = f"{folder}/data"

        def run(program: str, *words: str) -> None:
            finished(
                [programs / program, "-D", data, *words], cwd=folder, capture_output=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **user,
            )  # fmt: skip

        run(
            "initdb",
            "--auth=trust",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        )
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run("pg_ctl", "-w", "-t", str(PATIENCE), "-l", f"{folder}/log", "-o", options, "start")
        try:
            server = PostgreSQL(folder)
            try:
                yield server
            finally:
                server.connection.close()
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
