"""Log odds and true labels to what an evaluation is made of, in one read of the log odds.

In: log odds (m, k) of m rows, codes of true and predicted labels, weights or none. Out: they are
added to arrays that grow neither with the rows nor with the number of calls: weights in bins of the
log odds and in cells between cut-offs, ranks, losses and the confusion matrix.

Threads share the classes, and not the rows: each array belongs to one class, so that nothing is
added twice or by two threads at once, and the sums have the same bits for any number of threads.

Where to start
    tally.py   the kernel: a column of log odds to sums, and a row's losses, ranks and confusion
    bins.py    bins of the log odds, which widen as their range does
    cells.py   cells between cut-offs

May import: `_numba`, `_system`, `score` for exponentials, and the files of `kernels` beside this
folder.
"""
