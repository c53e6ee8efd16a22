"""Benchmarks of fastgnb: speed against other libraries and the machine's limits.

    python -m bench.targets --quick       the table of targets, in three minutes
    python -m bench.targets               the same over the full grid
    python -m bench.report RESULTS.json   the tables and figures of a run
    python -m bench.compare OLD NEW       ratios of two runs
    pytest bench --size full              pytest-benchmark's own tables
    python -m bench.bits                  whether two commits give the same bits

README.md has the results. `problems` are the data, `rivals` and `family` what is compared, `checks`
decides whether a result is correct. `measure` and `measure_subprocess` time it, `targets_table`
judges the times, with the machine's limits from `ceilings` and `roofline`. Nothing in here is
installed with the library.
"""
