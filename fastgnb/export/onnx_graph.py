"""A graph of ONNX operators, written node by node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._system.optional import require

__all__ = ["Graph"]

Floats = NDArray[np.float64]


class Graph:
    """Nodes, and constants that they and the branches within share.

    A value of the graph is a name, which `add` and `constant` return.
    """

    def __init__(self, parent: Graph | None = None) -> None:
        self.onnx = require("onnx")
        self.nodes: list[Any] = []
        self.constants: list[Any] = [] if parent is None else parent.constants
        self._names: list[str] = [] if parent is None else parent._names

    def name(self, kind: str) -> str:
        """A name that no other value has."""
        self._names.append(f"{kind}_{len(self._names)}")
        return self._names[-1]

    def constant(self, values: Any) -> str:
        """A constant array: float64, int64 or text."""
        array = np.asarray(values)
        name = self.name("constant")
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node; return its output."""
        name = output or self.name(operator.lower())
        node = self.onnx.helper.make_node(operator, list(inputs), [name], **attributes)
        self.nodes.append(node)
        return name

    def sum_over(self, value: str, axis: int) -> str:
        """Sums along an axis, which goes."""
        return self.add("ReduceSum", value, self.constant(np.array([axis])), keepdims=0)

    def where(self, condition: str, yes: str | float, no: str | float) -> str:
        """One value where the condition holds, and the other elsewhere."""
        given = [v if isinstance(v, str) else self.constant(np.float64(v)) for v in (yes, no)]
        return self.add("Where", condition, *given)

    def is_above(self, value: str, limit: str | float) -> str:
        """Where a value is above a limit."""
        given = limit if isinstance(limit, str) else self.constant(np.float64(limit))
        return self.add("Greater", value, given)

    def cond(
        self, condition: str, value: str, otherwise: Callable[[Graph], str], shape: list[Any]
    ) -> str:
        """`value`, or what `otherwise` adds to a branch if the condition, one boolean, holds."""
        branches = {}
        for attribute, make in (
            ("then_branch", otherwise),
            ("else_branch", lambda graph: graph.add("Identity", value)),
        ):
            branch = Graph(self)
            kind = self.onnx.TensorProto.DOUBLE
            out = self.onnx.helper.make_tensor_value_info(make(branch), kind, shape)
            branches[attribute] = self.onnx.helper.make_graph(
                branch.nodes, self.name("branch"), [], [out]
            )
        return self.add("If", condition, **branches)
