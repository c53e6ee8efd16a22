"""Table files to batches of rows, and answers to table files.

In: paths, and what is said of their columns (target, weight, features, categories). Out: batches
that hold plain arrays, labels and kept columns. Which columns are features, and of which type
labels and categories are, is decided by all files before a row is learned, so that the order of the
files decides nothing. pyarrow is imported here only, and only when it is needed.

Where to start
    sources.py           a set of files as one stream of batches, of whichever format
    readers.py           the reader of each format: parquet_file, arrow_file, csv_file
    paths.py             which files a list of files and folders stands for
    texts.py             CSV: text to numbers, labels and categories
    csv_errors.py        CSV: which line and column of a file is wrong
    npy.py               .npy arrays
    columns.py           which columns are target, weight, features and kept ones
    default_features.py  the features where none are named
    column_kinds.py      whether a column holds numbers, text or booleans, over all files
    values.py            values of a column to arrays
    batch.py             a batch of rows
    writers.py           answers to Parquet, CSV, Arrow IPC and .npy

May import: every room but `cli`.
"""
