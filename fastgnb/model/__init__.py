"""One model: a member of the family with its options, statistics and parameters.

In: statistics and options. Out: scores of rows, samples, models of the same statistics with other
parameters. Estimators, files and commands hold a model and add no arithmetic to it. The room knows
neither scikit-learn nor files.

The registry declares each member once: its statistics, how it is estimated, and its options with
defaults, ranges and help. Constructor checks, command line options and checks of model files are
derived from that, and nothing outside the registry compares a member's name.

Where to start
    model.py         `Model`: it estimates, scores, samples, reestimates and merges; the rule for
                     edited attributes
    family.py        the registry of members, and `register` for a further one
    options.py       what an option may be: words, numbers, flags
    likelihood.py    what a member makes of statistics; diagonal.py, full.py, axes.py and mixed.py
                     are those of the four members
    scoring.py       checked rows and parameters to the scoring kernels: the one way to every answer
    evaluation.py    how good predictions are: accuracy, confusion, log loss, Brier score
    findings.py      what is odd about features: keys, units, smoothing that drowns them

May import: `estimate`, `stats`, `input`, `kernels`, `_numba`, `_system`.
"""
