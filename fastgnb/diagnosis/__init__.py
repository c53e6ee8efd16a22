"""Whether the assumptions of a model hold, and what would help.

In: a model, and rows with their labels, in batches. Out: a `Diagnosis`: how far features are from
normal and from independent within each class, in nats per row, and the log loss of other models of
the same statistics. Batches, files and workers combine by `+`, in memory that does not grow with
the rows. Rows are read twice: once for sums, and once more to score the other models.

Where to start
    diagnose.py    `fastgnb.diagnose`, of rows in memory
    diagnoser.py   the first look at rows: moments, histograms and full scatter
    second_look.py the second one, and the result
    diagnosis.py   the result: `Diagnosis`
    normality.py   skewness, negentropy and the rest, from counts and moments
    dependence.py  correlations and total correlation, from full scatter
    candidates.py  other models of the same statistics, on rows that they have not learned
    advice.py      what all this says, in sentences
    state.py       what both looks add up, as arrays: for other processes

May import: `estimators` and the rooms below it.
"""
