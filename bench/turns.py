"""The worker of `bench.before_after`: one environment, which measures groups of `targets` in turns.

It runs the groups as `targets` does, but for `timing.interleave`: each program of ours is called
when the parent says so, so that the workers of two environments never run at once. All other
programs are called once, for the checks. Messages are lines of JSON on standard input and output.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from . import timing
from .timing import Call, Effort, Timing, timed

# Programs that are not ours: those of `rivals`, and what the machine does.
_OTHERS = (
    "scikit-learn", "numpy", "mlpack", "dask-ml", "river", "Spark ML", "H2O", "R e1071", "ceiling",
    "product", "pyarrow", "python", "read", "import numpy",
)  # fmt: skip


class Channel:
    """Lines of JSON to and from the parent."""

    def __init__(self) -> None:
        # What benchmarks print goes to standard error.
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def ask(self, **message: Any) -> Any:
        """Send a message, and wait for the answer."""
        self.send(**message)
        line = sys.stdin.readline()
        if not line:
            raise SystemExit("The parent has ended.")
        return json.loads(line)

    def send(self, **message: Any) -> None:
        """Send a message."""
        self.out.write(json.dumps(message) + "\n")
        self.out.flush()


def is_ours(program: str) -> bool:
    """Whether a program of `interleave` is of this package."""
    return not program.startswith(_OTHERS)


def main() -> int:
    """Measure the groups that the parent names, until it says that there are no more."""
    channel = Channel()
    counts: dict[str, int] = {}

    def in_turns(calls: dict[str, Call], effort: Effort) -> dict[str, Timing]:
        return _in_turns(channel, counts, calls, effort)

    answer = channel.ask(ready=_about())
    from . import family as family_module
    from . import measure, measure_subprocess, selection, targets

    for module in (timing, measure, measure_subprocess, selection, family_module):
        if hasattr(module, "interleave"):
            module.interleave = in_turns  # type: ignore[attr-defined]
    while answer.get("group"):
        group, size = answer["group"], answer["size"]
        rows, error = _measured(targets.GROUPS[group](size))
        answer = channel.ask(group=group, rows=rows, error=error)
    return 0


def _measured(found: Iterator[timing.Row]) -> tuple[list[dict[str, Any]], str | None]:
    rows: list[dict[str, Any]] = []
    try:
        for row in found:  # those before an error are kept
            rows += [row._asdict()]
    except Exception:  # the other environment goes on
        return rows, traceback.format_exc(limit=3)
    return rows, None


def _in_turns(
    channel: Channel, counts: dict[str, int], calls: dict[str, Call], effort: Effort
) -> dict[str, Timing]:
    """As `timing.interleave`, with rounds that the parent decides on."""
    seconds: dict[str, list[float]] = {}
    results: dict[str, Any] = {}
    for name, call in calls.items():
        spent, results[name] = timed(call)
        seconds[name] = [] if is_ours(name) else [spent]
    ours = {name: call for name, call in calls.items() if is_ours(name)}
    task = " | ".join(calls)
    counts[task] = counts.get(task, 0) + 1
    key, last = f"{task} #{counts[task]}", 0.0
    while ours and channel.ask(task=key, effort=effort, seconds=last)["more"]:
        last = 0.0
        for name, call in ours.items():
            results.pop(name, None)  # free its memory before the next call allocates
            spent, results[name] = timed(call)
            seconds[name].append(spent)
            last += spent
    for name in ours:
        if not seconds[name]:
            seconds[name].append(timed(ours[name])[0])
    return {name: Timing(seconds[name], results[name]) for name in calls}


def _about() -> dict[str, str]:
    import numba
    import numpy

    import fastgnb

    folder = os.path.dirname(fastgnb.__file__)
    return {"fastgnb": folder, "numpy": numpy.__version__, "numba": numba.__version__}


if __name__ == "__main__":
    sys.exit(main())
