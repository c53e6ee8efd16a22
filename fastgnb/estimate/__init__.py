"""Statistics to parameters: priors, smoothing, sharing, shrinkage and principal axes.

In: statistics (`ClassStats`, `MixedStats`) and options. Out: estimates, which are what the
attributes of a fitted model show (priors, means, smoothed variances, covariances, log
probabilities), and the parameters that scoring takes. Rows are never seen here. A rule that is
changed here changes every member alike, in memory, in streams and in files, and needs no change of
a kernel.

Where to start
    diagonal.py        priors, the smoothing of variances (`epsilon_of`), variances tied or per
                       class
    full.py            covariances: regularisation, shrinkage, and their whiteners
    axes.py            naive Bayes along principal axes
    principal_axes.py  the axes themselves
    categorical.py     the smoothing of counts of categories (alpha) to log probabilities
    left_out.py        diagonal variances without one row, whichever it is: leave-one-out
    downdate.py        the same for full covariances
    shared_axes.py     models of the same covariances' axes, all at once
    parameters.py      estimates to what the scoring kernels take
    options.py         checks of options that estimates make themselves
    correlation.py     the rule for low rank: what float64 cannot tell from 0
    singular.py        singular values, of which small ones keep their digits

May import: `stats`, `input`, `kernels`, `_numba`, `_system`.
"""
