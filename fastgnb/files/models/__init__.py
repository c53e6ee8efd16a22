"""Model files: what `save` writes and `load` reads.

In and out: a model, and a safetensors file with a schema number, JSON metadata and float64 tensors.
Loading executes nothing, takes memory in proportion to the file, and believes nothing: every type,
shape and range is checked, and a file that is not a valid model is a `ModelFileError`. Files of
every earlier schema can be read for ever, see tests/data.

Where to start
    saved.py         the fields of each schema, `save` and `load`
    container.py     the bytes of a file: header, digest, tensors
    learned.py       fingerprints of the files that a model has learned
    choices.py       which member statistics become when models are merged or estimated anew

May import: every room but `cli`.
"""
