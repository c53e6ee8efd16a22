"""The folder of a model, as MLflow lays it out, which appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._system.optional import require
from .._version import __version__

__all__ = ["MODEL_FILE", "new_folder", "write_environment"]

MODEL_FILE = "model.fgnb"


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary folder beside `path`, which is renamed to it at the end.

    Raises FileExistsError if something is there, but for an empty folder.
    """
    target = Path(path).absolute()
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise FileExistsError(
            f"{os.fspath(path)} exists and is not empty. Give another path, or remove it."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        folder.chmod(0o777 & ~_umask())
        yield folder
        if target.exists():
            target.rmdir()
        folder.rename(target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_environment(folder: Path, given: Any, extra: Any) -> None:
    """Write which packages the model needs, by pip, conda and virtualenv.

    `given` replaces the requirements, and `extra` adds to them; see `save_model`.
    """
    environment = require("mlflow.utils.environment")
    needed = [f"fastgnb=={__version__}"]
    conda, pip, constraints = environment._process_pip_requirements(needed, given, extra)
    yaml = require("yaml")
    conda_text = yaml.safe_dump(conda, default_flow_style=False)
    (folder / "conda.yaml").write_text(conda_text, encoding="utf-8")
    (folder / "requirements.txt").write_text("\n".join(pip), encoding="utf-8")
    if constraints:
        (folder / "constraints.txt").write_text("\n".join(constraints), encoding="utf-8")
    environment._PythonEnv.current().to_yaml(os.fspath(folder / "python_env.yaml"))
