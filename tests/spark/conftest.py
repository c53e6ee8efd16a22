"""One session for all tests of Spark in a process, and the mark `engine` of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from engines import need

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("engine")
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session")
def spark():
    """Classic Spark in this process; a task is tried four times."""
    need("pyspark", "pandas", "java")
    import spark_frames

    session = spark_frames.session()
    yield session
    session.stop()
