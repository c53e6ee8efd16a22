"""pyspark, where it is there and new enough, and what its errors mean.

Other modules of this room import pyspark after this one, so that a missing or old one is named.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from .._system.optional import MissingExtraError, require
from ..input.type_names import type_name

__all__ = ["MINIMUM", "check_frame", "check_version", "explained", "session_of"]

MINIMUM = (4, 0)
"""The first version of pyspark with `applyInArrow`."""

_UPGRADE = "pip install -U 'fastgnb[spark]'"

_NO_JAVA = (
    "Spark did not start, since Java is missing or too old: install Java 17 or later (Debian: "
    "apt install openjdk-17-jre-headless; conda: conda install openjdk), and set JAVA_HOME to it "
    "where java is not on the PATH. A Spark Connect server needs no Java here: "
    "SparkSession.builder.remote('sc://HOST')"
)

_NOT_INSTALLED = (
    "Python on the executors does not have {package}: install 'fastgnb[spark]' there, in the "
    "version that is here. Which Python executors run is set by PYSPARK_PYTHON or "
    "spark.pyspark.python"
)


def check_version() -> None:
    """Raise MissingExtraError where pyspark is missing, or older than MINIMUM."""
    found = str(require("pyspark").__version__)
    numbers = tuple(map(int, re.findall(r"\d+", found)[:2]))
    if numbers and numbers < MINIMUM:
        wanted = ".".join(map(str, MINIMUM))
        raise MissingExtraError(
            f"fastgnb.spark needs pyspark {wanted} or later, found {found}: {_UPGRADE}"
        )


check_version()


def check_frame(df: Any) -> None:
    """Raise TypeError for what is no DataFrame of Spark."""
    from pyspark.sql import DataFrame

    if not isinstance(df, DataFrame):
        raise TypeError(
            f"Expected a DataFrame of Spark, got {type_name(df)}. "
            "spark.createDataFrame makes one of rows in memory, and spark.read of files."
        )
    if df.isStreaming:
        raise TypeError(
            "Expected a DataFrame that ends, got a streaming one. Learn from its batches: "
            "foreachBatch calls a function with an ordinary DataFrame each."
        )


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Say what to install where executors lack this package, or one that it needs."""
    try:
        yield
    except Exception as error:
        lacking = re.search(r"ModuleNotFoundError: No module named '(\w+)", str(error))
        if lacking is None:
            raise
        raise RuntimeError(_NOT_INSTALLED.format(package=lacking[1])) from error


def session_of(owner: Any) -> Any:
    """The Spark session of a reader or writer of pyspark.ml; a new one where there is none."""
    from pyspark.errors import PySparkException

    try:
        return owner.sparkSession
    except PySparkException as error:
        if "session" not in str(error):
            raise
    return start_session()


def start_session() -> Any:
    """A Spark session. Raises RuntimeError, which says what to install, where Java is missing."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        return SparkSession.builder.getOrCreate()
    except (PySparkException, OSError) as error:
        if "JAVA_GATEWAY_EXITED" not in str(error) and not isinstance(error, OSError):
            raise
        raise RuntimeError(_NO_JAVA) from error
