"""Files of rows, and the time of only reading their columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from fastgnb.cli import main

from .problems import Problem

ENDINGS = ("parquet", "csv", "npy", "arrow")


class Files(NamedTuple):
    """A file of a problem's rows and a model of them. Labels are a column, or a .npy file."""

    data: Path
    labels: Path
    model: Path
    features: list[str]

    @property
    def target(self) -> list[str]:
        """The command line options that name the labels."""
        is_npy = self.data.suffix == ".npy"
        return ["--target-npy", str(self.labels)] if is_npy else ["--target", "y"]

    def fit(self) -> None:
        """`fastgnb fit`."""
        words = ["fit", str(self.data), *self.target, "--model", str(self.model), "--quiet"]
        assert main(words) == 0

    def predict(self, output: Path) -> Path:
        """`fastgnb predict` into `output`. Returns `output`."""
        words = ["predict", str(self.model), str(self.data), "--output", str(output), "--quiet"]
        assert main(words) == 0
        return output

    def readers(self) -> dict[str, Callable[[], object]]:
        """Calls that only read the same columns: all at once, and as a stream of batches."""
        if self.data.suffix == ".npy":
            return {"whole": lambda: np.load(self.data)}
        if self.data.suffix == ".csv":
            return {"whole": lambda: pc.read_csv(self.data), "stream": self._stream}
        if self.data.suffix == ".arrow":
            return {"whole": self._read_arrow}
        return {
            "whole": lambda: pq.read_table(self.data, columns=self.features),
            "stream": self._stream,
        }

    def _read_arrow(self) -> pa.Table:
        """The rows in memory: a map would read nothing yet."""
        with pa.OSFile(str(self.data)) as file:
            options = ipc.IpcReadOptions(included_fields=list(range(len(self.features))))
            return ipc.open_file(file, options=options).read_all()

    def _stream(self) -> int:
        dataset = ds.dataset(self.data, format=self.data.suffix[1:])
        return sum(len(batch) for batch in dataset.to_batches(columns=self.features))


def write(problem: Problem, folder: Path, ending: str) -> Files:
    """Write a problem's rows uncompressed, so that no codec is measured, and fit a model."""
    X, y = problem.data()
    names = [f"x{j}" for j in range(problem.d)]
    files = Files(folder / f"rows.{ending}", folder / "y.npy", folder / "model", names)
    table = pa.table({f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(problem.d)} | {"y": y})
    if ending == "parquet":
        pq.write_table(table, files.data, compression="none", use_dictionary=False)
    elif ending == "csv":
        pc.write_csv(table, files.data)
    elif ending == "arrow":
        with ipc.new_file(str(files.data), table.schema) as sink:
            sink.write_table(table)
    else:
        np.save(files.data, X)
        np.save(files.labels, y)
    files.fit()
    return files


def labels(output: Path) -> np.ndarray:
    """The predictions in a file that `fastgnb predict` wrote."""
    if output.suffix == ".npy":
        array = np.load(output)
        return array["prediction"] if array.dtype.names else np.ravel(array)
    readers = {".parquet": pq.read_table, ".csv": pc.read_csv, ".arrow": feather.read_table}
    return readers[output.suffix](output)["prediction"].to_numpy()
