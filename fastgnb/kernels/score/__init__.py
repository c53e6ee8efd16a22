"""Rows and parameters to answers: joint log likelihoods, fused with the outputs that are wanted.

In: rows X (n, d), and parameters as float64 arrays (means, inverse standard deviations or
whiteners, constants). Out: labels or their codes, a table of probabilities, log probabilities or
joint log likelihoods, and log evidence, as asked for. No other array of size (n, k) is made.

One loop drives all of it. It takes the rows in groups of 32 and lets a member's file score a group.
Then the best class is kept, scores become probabilities, and rows whose squared deviations overflow
are scored again.

Where to start
    driver.py       that loop: blocks, groups, the last rows, overflow, outputs
    diagonal.py     the score of a group for independent features
    whitened.py     the same for full covariances and principal axes
    categorical.py  the same for continuous and categorical features together
    posterior.py    the softmax of a group: exponentials, probabilities, log evidence
    outputs.py      which outputs there are, and their arrays
    overflow.py     scores of rows whose squared deviations overflow float64

May import: `_numba`, `_system`, and the files of `kernels` beside this folder.
"""
