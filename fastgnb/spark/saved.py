"""How `SparkClassifier` and its model are saved: as JSON, and the bytes of a model file.

A folder holds ``metadata``, as that of every stage of pyspark.ml, and for a fitted model ``model``,
a Parquet file of one value. Both are written by Spark, to any file system that it knows. Metadata
come last: a folder without them was not written to its end, and is refused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from ..estimators.member_classes import estimator_of
from ..files.models.container import ModelFileError
from ..model.family import MEMBERS
from .engine import session_of

from pyspark.ml.util import DefaultParamsReader, MLReader, MLWriter  # isort: skip

__all__ = ["ClassifierReader", "ClassifierWriter", "ModelReader", "ModelWriter"]


class FolderWriter(MLWriter):  # type: ignore[misc]
    """Writes what is the same for both."""

    def __init__(self, instance: Any) -> None:
        super().__init__()
        self.instance = instance

    def _handleOverwrite(self, path: str) -> None:
        """Nothing yet: each part is replaced as it is written, also over Spark Connect."""

    def write_frame(self, frame: Any) -> Any:
        """A writer of a DataFrame of one row, which replaces a folder only where that is asked."""
        mode = "overwrite" if self.shouldOverwrite else "error"
        return frame.coalesce(1).write.mode(mode)

    def write_metadata(self, path: str, member: str) -> None:
        """Parameters and what pyspark.ml needs to find this class."""
        session, params = session_of(self), self.instance
        metadata = {
            "class": f"{type(params).__module__}.{type(params).__name__}",
            "timestamp": round(time.time() * 1000),
            "sparkVersion": session.version,
            "uid": params.uid,
            "paramMap": {param.name: value for param, value in params._paramMap.items()},
            "defaultParamMap": {
                param.name: value for param, value in params._defaultParamMap.items()
            },
            "member": member,
        }
        frame = session.createDataFrame([(json.dumps(metadata),)], "value string")
        self.write_frame(frame).text(f"{path}/metadata")


class ClassifierWriter(FolderWriter):
    """Writes a `SparkClassifier`."""

    def saveImpl(self, path: str) -> None:
        """Write the folder."""
        self.write_metadata(path, self.instance.member.name)


class ModelWriter(FolderWriter):
    """Writes a `SparkClassifierModel`."""

    def saveImpl(self, path: str) -> None:
        """Write the folder."""
        from ..files.models.as_bytes import to_bytes

        estimator = self.instance.estimator_
        data = bytearray(to_bytes(estimator))
        frame = session_of(self).createDataFrame([(data,)], "model binary")
        self.write_frame(frame).parquet(f"{path}/model")
        self.write_metadata(path, estimator.to_model().member.name)


class FolderReader(MLReader):  # type: ignore[misc]
    """Reads what is the same for both."""

    def __init__(self, cls: Any) -> None:
        super().__init__()
        self.cls = cls

    def metadata(self, path: str) -> Mapping[str, Any]:
        """What JSON holds. Raises ModelFileError where it is of another class."""
        found: Mapping[str, Any] = DefaultParamsReader.loadMetadata(path, session_of(self))
        name = str(found.get("class"))
        if name.rpartition(".")[2] != self.cls.__name__ or found.get("member") not in MEMBERS:
            raise ModelFileError(f"{path}: holds a {name}, expected {self.cls.__name__}")
        return found

    def with_params(self, instance: Any, metadata: Mapping[str, Any]) -> Any:
        """The instance with identity and parameters as they were."""
        instance._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(instance, metadata)
        return instance


class ClassifierReader(FolderReader):
    """Reads a `SparkClassifier`."""

    def load(self, path: str) -> Any:
        """Read the folder."""
        metadata = self.metadata(path)
        estimator = estimator_of(MEMBERS[metadata["member"]])()
        return self.with_params(self.cls(estimator), metadata)


class ModelReader(FolderReader):
    """Reads a `SparkClassifierModel`."""

    def load(self, path: str) -> Any:
        """Read the folder."""
        from ..files.models.as_bytes import from_bytes

        metadata = self.metadata(path)
        rows = session_of(self).read.parquet(f"{path}/model").collect()
        if len(rows) != 1:
            raise ModelFileError(f"{path}: holds {len(rows)} models, expected 1")
        try:
            estimator = from_bytes(bytes(rows[0].model))
        except ModelFileError as error:
            raise ModelFileError(f"{path}: {error}") from error
        return self.with_params(self.cls(estimator), metadata)
