"""How good predictions are: from one pass over rows with their labels.

In: a model's log odds of rows, in batches, and their true labels and weights. Out: an `Evaluation`,
which holds numbers and no rows. What it is computed from adds up, as statistics do: batches, files
and workers combine by `+`, in memory that does not grow with the rows.

Where to start
    evaluate.py    `fastgnb.evaluate`, of rows in memory
    evaluator.py   adds up batches of rows, in sums.py, histograms.py and unseen.py
    state.py       what that holds, as arrays: for other processes
    evaluation.py  the result: `Evaluation`. fields.py: what it holds; rank_answers.py,
                   cutoff_answers.py, calibration_answers.py: what it says; plain.py: as JSON
    curves.py      rows of a class and of the others in the order of their log odds
    cells.py       rows between fixed cut-offs of the probability
    ranking.py     curves and areas; thinning.py: curves of fewer points
    rates.py       all rates of a cut-off; cutoffs.py: the best one
    calibration.py reliability and the parts of the Brier score

May import: `estimators` and the rooms below it.
"""
