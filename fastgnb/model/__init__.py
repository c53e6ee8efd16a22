"""One model: a member of the family with its options, statistics and parameters.

In: statistics and options. Out: scores of rows, samples, merged models, and models of the same
statistics with other parameters. Estimators, model files and commands hold a `Model` and add no
arithmetic to it. The room knows neither scikit-learn nor files.

The registry declares each member once: its statistics, how it is estimated, and its options with
defaults, ranges and help. Constructor checks, command line options, checks of model files and the
README's table are derived from it. Nothing else compares a member's name.

Where to start
    model.py       `Model`, and the rule for edited fitted attributes
    family.py      the registry: `Member`, `register`
    options.py     how an option is declared
    likelihood.py  what a member defines: estimate, parameters, sample
    estimates.py   fitted attributes that are estimated when one is read
    diagonal.py    that of GaussianNB; full.py: GaussianBayes; axes.py: PCAGaussianNB; mixed.py:
                   MixedNB
    scoring.py     checked rows and parameters to the scoring kernels: the one way to every answer
    left_out.py    which options have leave-one-out in closed form
    findings.py    suspicious features: keys, different units, variances below the smoothing

May import: `estimate`, `stats`, `input`, `kernels`, `_numba`, `_system`.
"""
