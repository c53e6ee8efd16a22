"""Model files for tests."""

from __future__ import annotations

from fastgnb.files.models.model_file import ModelFile
from fastgnb.model.model import Model


def file_of(stats, *, model="GaussianNB", target=None, weight=None, **options):
    """The file of a model of statistics."""
    return ModelFile(Model.of(model, stats, **options), target, weight)
