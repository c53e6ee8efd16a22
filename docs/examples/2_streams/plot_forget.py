"""
Forget old rows: classes that drift
===================================

Classes move while rows arrive. A model of all rows so far averages over old positions. A
sliding window subtracts old rows, and exponential decay down-weights them.
"""

import matplotlib.pyplot as plt
import numpy as np

from fastgnb import ClassStats, GaussianNB

rng = np.random.default_rng(0)
n_steps, n_rows = 120, 200


def rows_at(step):
    """Two classes that turn around each other, once in 120 steps."""
    angle = 2 * np.pi * step / n_steps
    centre = np.array([np.cos(angle), np.sin(angle)])
    y = rng.integers(0, 2, n_rows)
    return rng.normal(size=(n_rows, 2)) + np.where(y[:, None] == 1, centre, -centre), y


# %%
# At each step, every model is tested on the new rows before it learns them.

chunks = [rows_at(step) for step in range(n_steps)]
stats = [ClassStats.from_rows(X, y) for X, y in chunks]
everything = window = decayed = stats[0]
scores = {"all rows": [], "window of 10 chunks": [], "decay by 0.8": []}
for step in range(1, n_steps):
    X, y = chunks[step]
    for name, kept in zip(scores, (everything, window, decayed), strict=True):
        scores[name].append(GaussianNB().fit_stats(kept).score(X, y))
    everything = everything + stats[step]
    window = window + stats[step]
    if step >= 10:
        window = window - stats[step - 10]
    decayed = decayed.decay(0.8) + stats[step]

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for (name, values), style in zip(scores.items(), ("-", "--", ":"), strict=True):
    smooth = np.convolve(values, np.ones(5) / 5, mode="valid")
    ax.plot(np.arange(len(smooth)) + 3, smooth, style, label=name)
ax.set(xlabel="step", ylabel="accuracy on the next rows")
_ = ax.legend()

# %%
# After half a turn the model of all rows is no better than guessing, and then worse, since it
# averages over the old positions. The other two follow the drift, and hardly differ. A subtraction
# is exact to rounding: the window holds what ten chunks hold.

exact = sum(stats[-10:])
print(f"{np.abs(window.mean - exact.mean).max():.1e}")
