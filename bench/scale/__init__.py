"""Proof at scale: a billion rows in constant memory, and the same model in Dask and in Spark.

    python -m bench.scale                          all parts: 1e9 rows, and 20M in each engine
    python -m bench.scale --part billion           one part: billion, dask or spark
    python -m bench.scale --rows 1e7 --engine-rows 1e6
    python -m bench.scale --write                  the tables of docs/scale.md too

`rows` makes rows by number: nothing is stored, and any row can be made again. `billion` learns and
scores them through `fastgnb.files`, `on_dask` and `on_spark` in `clusters` of one and two workers,
beside dask-ml and Spark ML, and `expectation` compares statistics with the distribution that rows
are drawn from. `page` writes the tables. Each part runs in a process of its own, so that its peak
memory is known, and a part that fails does not end the others. Needs the extra ``engines``.
"""
