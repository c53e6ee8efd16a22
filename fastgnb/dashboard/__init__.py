"""A page of benchmarks: ratios to other libraries, their history, and every measurement.

In: runs, each with its figures (measured times), machine, versions and load. Out: one HTML file
that makes no request. `python -m bench.dashboard` makes the page of all kept results, and
`fastgnb demo --html` that of one run on the user's machine.

Where to start
    records.py     what a run is: tasks, figures, comparisons, targets
    noise.py       how far ratios vary without a cause, and which changes are larger
    history.py     noise of each comparison, from all runs of its machine
    encode.py      runs as compact JSON
    page.py        the HTML file, from that JSON, the files in assets/, and Vega-Lite
    machine.py     what figures depend on: processor, load, versions

In assets/ the page draws itself: `data.js` decodes the JSON, `state.js` keeps the state in the
address, and each view has a file.

May import: `_system`. Imported by `cli` and by the benchmarks.
"""

from . import machine, noise
from .page import write_page
from .records import Comparison, Figure, Question, Run, Target, Task, compare

__all__ = [
    "Comparison",
    "Figure",
    "Question",
    "Run",
    "Target",
    "Task",
    "compare",
    "machine",
    "noise",
    "write_page",
]
