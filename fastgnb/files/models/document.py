"""A model as JSON and tensors, and back. What is read is checked field by field."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._version import __version__
from ...estimate.options import check_priors
from ...input.rows import check_missing
from ...model.family import Member
from ...model.model import Model
from .labels import check_names, from_zero_up, list_of, text_or_none, typed
from .schemas import before, fields_of, member_of, own_options, schema_of, tensor_names
from .statistics import fields_of_stats, restore_stats
from .tensors import check_learned

__all__ = ["current_versions", "document_of", "restore_columns", "restore_model"]


def current_versions() -> dict[str, str]:
    """What writes a file now."""
    return {"fastgnb": __version__, "numpy": np.__version__, "python": platform.python_version()}


def document_of(
    model: Model, target: str | None, weight: str | None, versions: Mapping[str, str]
) -> dict[str, Any]:
    """What JSON holds of a model: all but its numbers. Raises ValueError for labels that it
    cannot hold."""
    schema = schema_of(model)
    later = before(model.member, schema)
    head: dict[str, Any] = {"schema": schema}
    if schema > 1:
        options = own_options(model.options)
        head["options"] = {name: value for name, value in options.items() if name not in later}
    return {
        **head,
        **fields_of_stats(model.stats),
        "model": model.member.name,
        "priors": model.options["priors"],
        "var_smoothing": float(model.options["var_smoothing"]),
        "missing": model.missing,
        "epsilon": float(model.moments.epsilon),
        "columns": {"target": target, "weight": weight},
        "versions": dict(versions),
    }


def restore_model(document: dict[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Model:
    """The model of a description and tensors. Raises ValueError for all that makes none."""
    schema, member = _member(document)
    check_names(tensors, *tensor_names(schema, member))
    stats = restore_stats(document, tensors, mixed=member.takes_categories, least=1)
    check_learned(tensors, n_features=stats.n_features)
    if check_missing(document["missing"]) and not member.has("missing"):
        raise ValueError("missing='skip' needs diagonal scatter")
    restore_columns(document)
    common = {
        "priors": _restore_priors(document["priors"]),
        "var_smoothing": from_zero_up(document, "var_smoothing"),
        "missing": document["missing"],
    }
    _restore_versions(document["versions"])
    epsilon = from_zero_up(document, "epsilon")
    options = common | _restore_options(document, member)
    if not member.stores_edits:
        return Model.of(member, stats, **options)
    attributes: dict[str, Any] = {
        f"{name}_": tensors[name].astype(np.float64, copy=False)
        for name in ("class_prior", "theta", "var")
    }
    attributes["epsilon_"] = epsilon
    chosen = {name: options[name] for name in member.defaults}
    return Model(member, chosen, stats, attributes, is_edited=True)


def restore_columns(document: Mapping[str, Any]) -> dict[str, str | None]:
    """The names of the columns of labels and weights."""
    columns = typed(document, "columns", dict)
    check_names(columns, {"target", "weight"})
    return {name: text_or_none(columns, name) for name in ("target", "weight")}


def _member(document: Mapping[str, Any]) -> tuple[int, Member]:
    """The schema and the member, of a document that has their fields."""
    if "statistics" in document:
        raise ValueError("it holds statistics, which fastgnb.from_bytes reads")
    schema, name = document["schema"], document["model"]
    try:
        member = member_of(schema, name)
    except ValueError:
        check_names(document, fields_of(schema, None))
        raise
    check_names(document, fields_of(schema, member))
    return schema, member


def _restore_options(document: Mapping[str, Any], member: Member) -> dict[str, Any]:
    """Options of exactly the member's names, each of a kind and value that it can have."""
    later = before(member, document["schema"])
    if document["schema"] == 1:
        return later
    options = document["options"]
    if type(options) is not dict:
        raise ValueError("options are not an object")
    check_names(options, own_options(member.defaults).keys() - later.keys())
    options = options | later
    for name, value in options.items():
        items = value if type(value) is list and member.option(name).is_list else [value]
        kinds = set(map(type, items))
        if len(kinds) > 1 or not kinds <= {bool, int, float, str, type(None)}:
            raise ValueError(f"{name} is a {type(value).__name__}")
    member.check(options)
    return options


def _restore_priors(priors: Any) -> list[float] | None:
    """Priors for a fit to come: of any number of classes, since that fit may see others."""
    if priors is not None:
        check_priors(list_of(priors, float, "priors"), len(priors))
    return None if priors is None else priors


def _restore_versions(versions: Any) -> dict[str, str]:
    if type(versions) is not dict:
        raise ValueError("versions are not an object")
    list_of(list(versions.values()), str, "versions")
    return versions
