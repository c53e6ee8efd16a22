"""Whether two commits give the same bits: a digest of every answer, for thousands of cases.

    python -m bench.bits record before.json         in a checkout of one commit
    python -m bench.bits record after.json          in a checkout of the other
    python -m bench.bits compare before.json after.json

A case is one public call: the statistics of some rows, one method of a fitted model, the content of
one file that a command wrote. `record` keeps the SHA-256 of the value with its type and shape, a
short summary of it, and the categories of the warnings; of an error it keeps the type. `compare`
lists the cases that differ or are missing, and exits with 1 if there are any.

Only public names are used, so that the same script runs on both sides of a refactoring. LAPACK's
bits depend on the machine: record both sides on the same one.

`digest` turns values into digests, `rows` makes the rows, and `models` lists the members and their
options. The cases are functions of `fits`, `updates`, `categories`, `searches`, `model_files` and
`commands`, which list them in GROUPS. Keep the names of cases, so that old records can be compared.
"""
