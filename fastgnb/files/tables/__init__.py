"""Table files to batches of rows, and answers to table files.

In: paths or an Arrow stream, and the parts of columns. Out: batches of plain arrays, labels and
kept columns. Features, and the types of labels and categories, are determined from all files before
any row is learned, so the order of the files does not matter. Paths may have a scheme such as
s3://, see `_system/remote/`. pyarrow is imported here only, when it is needed.

Where to start
    sources.py           a set of files as one stream of batches
    arrow_rows.py        an Arrow stream as such batches; streams.py: what is one; cutting.py
    paths.py             which files a list of files and folders stands for
    formats.py           which format a file has; file_options.py: how the files of a job are read
    csv_file.py          the reader of CSV; texts.py: its text to numbers, labels and categories
    csv_dialect.py       how CSV is written; csv_stream.py: unpacked and decoded; csv_numbers.py
    csv_pieces.py        its text cut between rows, which csv_parser.py parses in several threads
    csv_errors.py        which line and column of a CSV file is wrong
    partitions.py        keys of folders as columns; where_files.py: the files that are not skipped
    where_text.py        a condition as text, to where_tree.py; where_rows.py; filtered_file.py
    parquet_file.py      the reader of Parquet; arrow_file.py: of Arrow IPC, local in arrow_map.py,
                         arrow_pieces.py and view_texts.py
    npy.py               the reader of .npy, local in npy_file.py, and remote in npy_ranges.py
    table_file.py        what all readers have in common; readers.py: which of them a file gets
    columns.py           which columns are target, weight, features and kept ones
    default_features.py  the features if none are named; index_columns.py: indexes of data frames
    column_kinds.py      whether a column holds numbers, text or booleans, over all files
    values.py            values of a column to arrays; bitmaps.py, decimals.py; batch.py
    writers.py           answers to Parquet, CSV, Arrow IPC and .npy
    background_writer.py such a writer in a thread; prefetching.py: readers in threads

May import: every room but `cli`.
"""
