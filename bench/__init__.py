"""Benchmarks of fastgnb: speed against other libraries and the machine's limits.

    python -m bench.targets --quick       the table of targets, in three minutes
    python -m bench.targets               the same over the full grid
    python -m bench.report RESULTS.json   the tables and figures of a run
    python -m bench.compare OLD NEW       ratios of two runs, and what changed beyond the noise
    python -m bench.before_after --before PYTHON --after PYTHON    two commits in one run
    python -m bench.dashboard RESULTS --output FOLDER    a page of all runs
    python -m bench.convert FILE.json     results of earlier schemas to the newest
    pytest bench --size full              pytest-benchmark's own tables
    python -m bench.bits                  whether two commits give the same bits
    python -m bench.scale                 a billion rows; Dask and Spark, see docs/scale.md

README.md has the results. `problems` are the data, `rivals` and `family` what is compared, `checks`
decides whether a result is correct. `measure` and `measure_subprocess` time it, `targets_table`
judges the times, with the machine's limits from `ceilings` and `roofline`. Nothing in here is
installed with the library.
"""
