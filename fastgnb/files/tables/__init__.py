"""Table files to batches of rows, and answers to table files.

In: paths, and what is said of their columns (target, weight, features, categories). Out: batches of
plain arrays, labels and kept columns. Feature columns, and the types of labels and
categories, are determined from all files before any row is learned, so the order of the files does
not matter. pyarrow is imported here only, and only when it is needed.

Where to start
    sources.py           a set of files as one stream of batches
    paths.py             which files a list of files and folders stands for
    csv_file.py          the reader of CSV; texts.py: its text to numbers, labels and categories
    csv_errors.py        which line and column of a CSV file is wrong
    parquet_file.py      the reader of Parquet; arrow_file.py: of Arrow IPC; npy.py: of .npy arrays
    table_file.py        what all readers have in common; readers.py: which of them a file gets
    columns.py           which columns are target, weight, features and kept ones
    default_features.py  the features if none are named; index_columns.py: indexes of data frames
    column_kinds.py      whether a column holds numbers, text or booleans, over all files
    values.py            values of a column to arrays; batch.py: a batch of rows as arrays
    writers.py           answers to Parquet, CSV, Arrow IPC and .npy

May import: every room but `cli`.
"""
