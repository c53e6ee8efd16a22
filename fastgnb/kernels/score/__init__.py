"""Rows and parameters to answers: joint log likelihoods, fused with the outputs that are wanted.

In: rows X (n, d), and parameters as float64 arrays (means, inverse standard deviations or
whiteners, constants). Out: labels or their codes, a table of probabilities, log probabilities or
joint log likelihoods, and log evidence, as asked for. No other array of size (n, k) is made.

One loop drives all of it. It takes the rows in groups of 32 and lets a member's file score a group.
Then the best class is kept, scores become probabilities, and rows whose squared deviations overflow
are scored again.

Where to start
    driver.py       that loop: blocks, groups, the last rows, overflow, outputs
    diagonal.py     the score of a group for independent features; many_models.py: labels alone
    squares.py      its loops: transposed rows and their squared deviations, by four classes
    certified.py    labels alone of many rows, by scores in float32 or int16 proved to decide
    float32.py      scores in float32; certificate.py: the bound on their error
    int16.py        scores in fixed point; fixed_point.py: the bound on their error
    whitened.py     the same for full covariances and principal axes; shared_axes.py: many models
    linear.py       labels of classes that share a covariance, by scores linear in the row
    categorical.py  the same for continuous and categorical features together
    posterior.py    the softmax of a group: exponentials, probabilities, log evidence
    leave_one_out.py  scores of rows by the model of all others, by a loop of its own
    left_out_model.py  its parameters; own_class.py, other_classes.py: its terms
    left_out_labels.py  labels alone, by a lead; left_out_margin.py: its size
    left_out_full.py  full covariances; left_out_linear.py: labels by shared ones, by a lead
    log_odds.py     scores to log odds, by a kernel of its own
    outputs.py      which outputs there are, and their arrays
    overflow.py     scores of rows whose squared deviations overflow float64

May import: `_numba`, `_system`, and the files of `kernels` beside this folder.
"""
