"""A model as an ONNX graph: its inputs, labels, probabilities and metadata."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._system.optional import require
from .._version import __version__
from ..model.model import Model
from .onnx_graph import Graph
from .onnx_scores import Categories, category_positions, scores
from .terms import CategoryTerms, Terms, terms_of

__all__ = ["to_onnx"]

_OPSET, _ML_OPSET, _IR_VERSION = 17, 2, 8  # of 2022: what runtimes in use can read
_TYPES = ("float32", "float64")


def to_onnx(model: Model, dtype: Any = "float32") -> Any:
    """Return a model as an ONNX graph; see `GaussianNB.to_onnx`."""
    onnx = require("onnx")
    number = _number_type(onnx, dtype)
    terms, graph = terms_of(model), Graph()
    inputs, rows, categories = _inputs(graph, terms, number)
    table = scores(graph, terms, rows, categories)
    outputs = _outputs(graph, terms, table, number)
    proto = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes, model.member.name, inputs, outputs, initializer=graph.constants,
            doc_string=model.member.summary,
        ),
        opset_imports=[
            onnx.helper.make_opsetid("", _OPSET),
            onnx.helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
        ],
        ir_version=_IR_VERSION, producer_name="fastgnb", producer_version=__version__,
    )  # fmt: skip
    facts = {"fastgnb_version": __version__, "fastgnb_member": model.member.name}
    onnx.helper.set_model_props(proto, facts)
    onnx.checker.check_model(proto, full_check=True)
    return proto


def _number_type(onnx: Any, dtype: Any) -> int:
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = ""
    if name not in _TYPES:
        raise ValueError(f"Expected a dtype of {list(_TYPES)}, got {dtype!r:.80}.")
    kinds = onnx.TensorProto
    return int(kinds.FLOAT if name == "float32" else kinds.DOUBLE)


def _inputs(
    graph: Graph, terms: Terms, number: int
) -> tuple[list[Any], str | None, Categories | None]:
    """The inputs, the continuous features (n, c) as float64, and what categories add."""
    info, kinds = graph.onnx.helper.make_tensor_value_info, graph.onnx.TensorProto
    if not terms.categorical:
        given = [info("X", number, [None, len(terms.names)])]
        return given, graph.add("Cast", "X", to=kinds.DOUBLE), None
    types = dict.fromkeys(range(len(terms.names)), number)
    types |= {each.feature: _category_type(kinds, each) for each in terms.categorical}
    given = [info(name, types[j], [None, 1]) for j, name in enumerate(terms.names)]
    rows = None
    if len(terms.continuous):
        parts = [terms.names[j] for j in terms.continuous]
        together = graph.add("Concat", *parts, axis=1)
        rows = graph.add("Cast", together, to=kinds.DOUBLE)
    return given, rows, _categories(graph, terms)


def _category_type(kinds: Any, each: CategoryTerms) -> int:
    if each.is_text or not len(each.categories):
        return int(kinds.STRING)
    return int(kinds.BOOL if each.categories.dtype.kind == "b" else kinds.INT64)


def _categories(graph: Graph, terms: Terms) -> Categories:
    limits, counts = [], []
    for each in terms.categorical:
        _check_whole(each.categories, f"Categories of {terms.names[each.feature]!r:.80}")
        at = category_positions(graph, each, terms.names[each.feature], skip=terms.skip)
        missing = np.zeros((len(terms.const), 1))
        limit = np.hstack([each.limit, missing]).T
        misses = np.hstack([each.table == -np.inf, missing]).T
        limits.append(graph.add("Gather", graph.constant(limit), at, axis=0))
        if misses.any():
            counts.append(graph.add("Gather", graph.constant(misses), at, axis=0))
    return Categories(_sum(graph, limits), _sum(graph, counts) if counts else None)


def _sum(graph: Graph, values: list[str]) -> str:
    total = values[0]
    for each in values[1:]:
        total = graph.add("Add", total, each)
    return total


def _outputs(graph: Graph, terms: Terms, table: str, number: int) -> list[Any]:
    """`label` (n,) and `probabilities` (n, k), as skl2onnx calls them."""
    info, kinds = graph.onnx.helper.make_tensor_value_info, graph.onnx.TensorProto
    shares = graph.add("Softmax", table, axis=1)
    graph.add("Cast", shares, to=number, output="probabilities")
    best = graph.add("ArgMax", table, axis=1, keepdims=0)
    labels = terms.classes.tolist()
    is_text = isinstance(labels[0], str)
    if not is_text:
        _check_whole(terms.classes, "Labels")
    values = np.array(labels, object if is_text else np.int64)
    graph.add("Gather", graph.constant(values), best, axis=0, output="label")
    return [
        info("label", kinds.STRING if is_text else kinds.INT64, [None]),
        info("probabilities", number, [None, len(labels)]),
    ]


def _check_whole(labels: Any, what: str) -> None:
    """Raise ValueError for numbers that are not int64."""
    for label in labels.tolist():
        if not isinstance(label, str) and not (int(label) == label and -(2**63) <= label < 2**63):
            raise ValueError(f"{what} must be int64 in ONNX, got {label!r}.")
