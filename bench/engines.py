"""Libraries whose rows live in another process: Spark ML, H2O and R's e1071.

They are optional, and skipped where they, or Java or R, are missing. Rows are loaded into the
engine before the clock starts; what is timed is learning there, and scoring with the results as
arrays. Debian has R's e1071 as `r-cran-e1071`, and no package of its naivebayes.
"""

from __future__ import annotations

import functools
import importlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

# Rows by what tells arrays apart; a few are loaded at a time.
_LOADED: dict[Any, Any] = {}
_MOST_LOADED = 4


def _once(engine: Any, X: np.ndarray, load: Any) -> Any:
    """What `load` makes of rows, which is kept for the next call with the same rows."""
    key = (engine, X.shape, str(X.dtype), float(X[0].sum()), float(X[-1].sum()))
    if key not in _LOADED:
        while len(_LOADED) >= _MOST_LOADED:
            _LOADED.pop(next(iter(_LOADED)))
        _LOADED[key] = load()
    return _LOADED[key]


def lacks_program(*names: str) -> list[str]:
    """Programs that are not on the path."""
    return [name for name in names if shutil.which(name) is None]


class SparkML:
    """Spark ML's NaiveBayes(modelType="gaussian") on all cores; integer labels from 0."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> SparkML:
        NaiveBayes = importlib.import_module("pyspark.ml.classification").NaiveBayes
        frame = _once("Spark ML", X, functools.partial(_spark_frame, X, y))
        self.model = NaiveBayes(modelType="gaussian").fit(frame)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._scored(X)["prediction"].to_numpy().astype(np.int64)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.array(self._scored(X)["probability"].tolist())

    def _scored(self, X: np.ndarray) -> Any:
        functions = importlib.import_module("pyspark.ml.functions")
        frame = _once("Spark ML", X, functools.partial(_spark_frame, X, None))
        scored = self.model.transform(frame).sort("position")
        array = functions.vector_to_array("probability").alias("probability")
        return scored.select("prediction", array).toPandas()


@functools.cache
def _spark() -> Any:
    SparkSession = importlib.import_module("pyspark.sql").SparkSession
    builder = SparkSession.builder.master(f"local[{os.cpu_count()}]")
    for name, value in {
        "spark.ui.enabled": "false", "spark.driver.memory": "4g", "spark.log.level": "ERROR",
        "spark.sql.execution.arrow.pyspark.enabled": "true", "spark.driver.host": "localhost",
    }.items():  # fmt: skip
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _spark_frame(X: np.ndarray, y: np.ndarray | None) -> Any:
    """A cached DataFrame with the columns `features`, `label` and `position`."""
    pa = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    features = importlib.import_module("pyspark.ml.feature")
    names = [f"x{j}" for j in range(X.shape[1])]
    columns = {name: X[:, j] for j, name in enumerate(names)}
    columns["label"] = np.zeros(len(X)) if y is None else y.astype(np.float64)
    columns["position"] = np.arange(len(X))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        parquet.write_table(pa.table(columns), path)
        frame = _spark().read.parquet(str(path))
        frame = features.VectorAssembler(inputCols=names, outputCol="features").transform(frame)
        frame = frame.select("features", "label", "position").cache()
        frame.count()
    return frame


class H2O:
    """H2O's naive Bayes on all cores. It raises probabilities that are below 0.001."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> H2O:
        h2o = importlib.import_module("h2o.estimators")
        frame = _once("H2O", X, functools.partial(_h2o_frame, X, y))
        self.model = h2o.H2ONaiveBayesEstimator(min_sdev=1e-10, eps_sdev=0)
        self.model.train(x=frame.columns[:-1], y="label", training_frame=frame)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._scored(X)[:, 0].astype(np.int64)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self._scored(X)[:, 1:]

    def _scored(self, X: np.ndarray) -> np.ndarray:
        frame = _once("H2O", X, functools.partial(_h2o_frame, X, None))
        scored = self.model.predict(frame)
        return np.array(scored.as_data_frame(use_pandas=False, header=False), dtype=np.float64)


@functools.cache
def _h2o() -> Any:
    h2o = importlib.import_module("h2o")
    h2o.init(nthreads=-1, max_mem_size="4G", log_level="ERRR", verbose=False)
    h2o.no_progress()
    return h2o


def _h2o_frame(X: np.ndarray, y: np.ndarray | None) -> Any:
    names = [f"x{j}" for j in range(X.shape[1])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        table = X if y is None else np.column_stack([X, y])
        heads = names if y is None else [*names, "label"]
        formats = ["%.17g"] * len(names) + ["%d"] * (y is not None)
        np.savetxt(path, table, formats, ",", header=",".join(heads), comments="")
        frame = _h2o().import_file(str(path))
    if y is not None:
        frame["label"] = frame["label"].asfactor()
    return frame


R_CODE = """
suppressPackageStartupMessages(library(e1071))
input <- file("stdin", "r")
number <- function(word) as.numeric(word)
repeat {
  line <- readLines(input, 1)
  if (length(line) == 0) break
  words <- strsplit(line, " ")[[1]]
  name <- words[2]
  if (words[1] == "load") {
    n <- number(words[4]); d <- number(words[5])
    X <- matrix(readBin(words[3], "double", n * d), n, d)
    assign(name, X)
  } else if (words[1] == "fit") {
    y <- readBin(words[3], "integer", nrow(get(name)))
    model <- naiveBayes(get(name), factor(y))
  } else {
    found <- predict(model, get(name), type = words[1])
    if (words[1] == "class") found <- as.integer(as.character(found)) else found <- t(found)
    writeBin(as.double(found), words[3])
  }
  cat("done\\n"); flush(stdout())
}
"""


class E1071:
    """R's e1071::naiveBayes, in an R process that stays; variances by n - 1; labels from 0."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> E1071:
        r = _r()
        r.load(X)
        labels = r.folder / "labels"
        y.astype(np.int32).tofile(labels)
        r.do(f"fit {r.name(X)} {labels}")
        self.k = int(y.max()) + 1
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._scored(X, "class").astype(np.int64)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self._scored(X, "raw").reshape(len(X), self.k)

    def _scored(self, X: np.ndarray, kind: str) -> np.ndarray:
        r = _r()
        r.load(X)
        r.do(f"{kind} {r.name(X)} {r.folder / 'scores'}")
        return np.fromfile(r.folder / "scores")


class _R:
    """An R process that does what each line of its standard input says."""

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self._temporary.name)
        code = self.folder / "worker.R"
        code.write_text(R_CODE)
        self.process = subprocess.Popen(
            ["Rscript", "--vanilla", str(code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def name(self, X: np.ndarray) -> str:
        """The name of rows that are loaded."""
        return str(_once("R", X, lambda: f"X{len(_LOADED)}_{len(X)}"))

    def load(self, X: np.ndarray) -> None:
        """Load rows, if they are not."""
        _once("R rows", X, functools.partial(self._load, X))

    def _load(self, X: np.ndarray) -> bool:
        path = self.folder / "rows"
        np.asfortranarray(X, np.float64).T.tofile(path)
        self.do(f"load {self.name(X)} {path} {len(X)} {X.shape[1]}")
        return True

    def do(self, line: str) -> None:
        """Have R do something, and wait until it is done."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().strip() != "done":
            raise RuntimeError(f"R failed at {line!r}, with exit code {self.process.wait()}.")


@functools.cache
def _r() -> _R:
    return _R()


@functools.cache
def lacks_e1071() -> tuple[str, ...]:
    """What is missing of R and its package e1071."""
    if lacks_program("Rscript"):
        return ("Rscript",)
    code = 'quit(status = !requireNamespace("e1071", quietly = TRUE))'
    done = subprocess.run(["Rscript", "--vanilla", "-e", code], capture_output=True, check=False)
    return () if done.returncode == 0 else ("R's e1071",)
