"""Model files: what `save` writes and `load` reads.

In and out: a model, or statistics, and a safetensors file with a schema number, JSON metadata and
float64 tensors; equal content gives equal bytes. Loading executes nothing, takes memory in
proportion to the file, and trusts nothing: every type, shape and range is checked, and a file that
is not a valid model is a `ModelFileError`. Files of every earlier schema remain readable, see
tests/data.

Where to start
    model_file.py    `ModelFile`, `read`, `save` and `load`
    as_bytes.py      `to_bytes` and `from_bytes`, of models and of statistics alone
    schemas.py       the fields, tensors and options of each schema
    document.py      a model as JSON, and back; statistics.py: statistics so; labels.py, tensors.py
    edits.py         edited attributes, which files of some members cannot hold
    container.py     the bytes of a file: header, digest, tensors
    learned.py       fingerprints of the files that a model has learned

May import: every room but `cli`.
"""
