"""Jobs over files: what the commands and the functions of `fastgnb.files` do.

In: paths, a model file or a member with its options, and options of reading. Out: a model file, an
evaluation, counts of rows. A job checks its paths first, then plans its files, and only then reads.
What it has to say goes to `Messages`: the command line prints them, and Python warns or logs.

Where to start
    learn_files.py, score_files.py, assess_files.py, merge_models.py    the jobs
    file_state.py              one file to statistics; total.py: a sum of statistics
    learn_rows.py              the states of all files, and their sum
    checkpoint.py              a folder of states; state_bytes.py: its bytes
    fill_checkpoint.py         files to states, in shards and in several processes
    workers.py                 work in several processes
    score_folder.py            files to a folder of predictions; file_scorer.py: one file of them
    manifest.py                what is done in it; folder_names.py: the names of its files
    score_rows.py              batches to predictions and evaluations
    diagnose_files.py          files to a diagnosis
    model_rows.py              files with the columns of a model
    choices.py                 which member statistics become, and with which options
    options.py                 how a job reads its rows; progress.py: progress reports
    messages.py                what a job has to say, and to whom
    bad_rows.py                rows that a model cannot take: an error, or left out and counted
    class_limit.py, auto_columns.py, repeated_files.py, unknown_categories.py, findings.py
                               what is rejected, skipped or reported about the data

May import: every room but `cli`.
"""
