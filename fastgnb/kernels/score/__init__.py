"""Rows and parameters to answers: joint log likelihoods, fused with what is wanted of them.

In: rows X (n, d), and parameters as float64 arrays (means, inverse standard deviations or
whiteners, constants). Out: labels or their codes, a table of probabilities, log probabilities or
joint log likelihoods, and log evidence, as asked for; nothing of the size (n, k) is made that is
not asked for.

One loop drives all of it: it takes the rows in groups of 32, lets a member's file score a group,
keeps the best class, turns scores into probabilities, and scores overflowed rows once more.

Where to start
    driver.py        that loop: blocks, groups, the last rows of a block, outputs
    diagonal.py      the score of a group for independent features
    whitened.py      the same for full covariances and principal axes
    categorical.py   the same for continuous and categorical features together
    posterior.py     the softmax of a group: exponentials, probabilities, log evidence
    outputs.py       which outputs there are, and their arrays
    overflow.py      rows whose squared deviations overflow float64

May import: `_numba`, and the files of `kernels` beside this folder.
"""
