"""Jobs over files: fit, update, predict and evaluate on tables that do not fit in memory.

In: paths of Parquet, CSV, Arrow IPC and .npy files, and of model files. Out: estimators, files of
predictions, evaluations. Rows are read in batches of bounded size, in the order of the files; an
output file appears whole or not at all. The command line is argument parsing around this room.

Where to start
    tables/          files to batches of rows, and answers to files: the readers of CSV and the rest
    models/          model files: save and load
    learn_rows.py    batches to statistics
    score_rows.py    batches to predictions and evaluations
    bad_rows.py      rows with values that a model cannot take: an error, or left out and counted

May import: every room but `cli`.
"""
