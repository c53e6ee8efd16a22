"""Kernels over the same blocks of rows, which each block goes through before the next is read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .threads import Kernel

__all__ = ["KernelsInTurn"]

_NO_COUNTER = np.zeros(1, np.int64)


class KernelsInTurn(Kernel):
    """Several kernels over the same blocks: each block's second kernel follows its first.

    So what both read comes from the cache the second time. Arguments are a tuple for each kernel.
    A thread runs `step` blocks of one kernel before those of the next.
    """

    def __init__(self, kernels: Sequence[Kernel], step: int) -> None:
        self.kernels, self.step, self.lock = kernels, step, threading.Lock()
        self.name = ", ".join(kernel.name for kernel in kernels)
        self.loop = self._loop

    def _loop(
        self, first: int, last: int, blocks_per_fetch: int, counter: Any, *args: tuple[Any, ...]
    ) -> None:
        if blocks_per_fetch == 0:
            for start in range(first, last, self.step):
                self._run_each(start, min(start + self.step, last), args)
            return
        while True:
            with self.lock:
                start = int(counter[0])
                counter[0] = start + self.step
            if start >= last:
                return
            self._run_each(start, min(start + self.step, last), args)

    def _run_each(self, first: int, last: int, args: Sequence[tuple[Any, ...]]) -> None:
        for kernel, given in zip(self.kernels, args, strict=True):
            kernel.loop(first, last, 0, _NO_COUNTER, *given)
