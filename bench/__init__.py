"""Benchmarks of fastgnb: speed against rivals and ceilings, with every timed answer checked.

    pytest bench                          every benchmark, quick sizes
    pytest bench --size full              the sizes that the targets are stated for
    python -m bench.targets --quick       the table of targets, in three minutes
    python -m bench.targets               the table over the full grid
    python -m bench.report RESULTS.json   README tables and figures of a run
    python -m bench.compare OLD NEW       ratios of two runs

Data are in `problems`, programs in `rivals`, what the machine allows in `ceilings`, and what is a
right answer in `answers`. Nothing here is installed with the library.
"""
