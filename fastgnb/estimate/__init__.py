"""Statistics to parameters: priors, smoothing, sharing, shrinkage and principal axes.

In: statistics (`ClassStats`, `MixedStats`) and the options of a member. Out: what the attributes of
a fitted model show (priors, means, smoothed variances, covariances, log probabilities), and the
parameters that scoring takes. Rows are never seen here, so that a rule changed here changes every
member alike, in memory, in streams and in files, and needs no kernel.

Where to start
    diagonal.py        priors, the smoothing of variances (epsilon), variances tied or per class
    full.py            covariances: regularisation, shrinkage, and their whiteners
    axes.py            naive Bayes along principal axes; principal_axes.py: the axes of a scatter
    categorical.py     the smoothing of counts of categories (alpha) to log probabilities
    parameters.py      what scoring takes, and checks of fitted attributes that it comes from
    options.py         checks of options that estimates make themselves
    correlation.py     the rule for low rank: what float64 cannot tell from 0
    singular.py        singular values, of which small ones keep their digits

May import: `stats`, `input`, `kernels`, `_numba`, `_system`.
"""
