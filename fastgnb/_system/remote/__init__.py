"""Paths with a scheme, such as s3://bucket/rows.parquet: object stores and other file systems.

In: text such as "s3://bucket/key". Out: a `RemotePath`, which offers what this package needs of a
`pathlib.Path`. The file systems are those of fsspec. A local path, and one with the scheme file://,
is a `pathlib.Path`, so that other rooms call `as_path` once and know no schemes.

Objects are read by ranges, so that a read can go on where a connection was cut, and only as long as
they are the objects that were opened. An object that is written appears whole or not at all.

Where to start
    paths.py     `as_path` and `RemotePath`
    reader.py    an object as a file: ranges, retries, and changes noticed
    upload.py    an object that appears once it is complete
    errors.py    what a file system says, with the path and what to do

May import: no other room but this one's.
"""
