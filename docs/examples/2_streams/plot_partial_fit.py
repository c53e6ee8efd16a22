"""
A stream gives what one fit gives
=================================

Digits arrive in chunks of fifty. After each chunk the model is that of all rows so far, smoothing
included, and so the last model is that of one ``fit``, whatever the order of the chunks.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from fastgnb import GaussianNB

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
chunks = np.array_split(np.arange(len(X_train)), len(X_train) // 50)

smoothing = 1e-2
stream, other = GaussianNB(var_smoothing=smoothing), SklearnGaussianNB(var_smoothing=smoothing)
scores = []
for rows in chunks:
    for model in (stream, other):
        model.partial_fit(X_train[rows], y_train[rows], classes=np.arange(10))
    scores.append(stream.score(X_test, y_test))

# %%
# The curve shows how fast the model learns. Its final variances equal those of one ``fit`` up to
# rounding. scikit-learn's differ: its ``partial_fit`` smooths by the variance of the last chunk.

at_once = GaussianNB(var_smoothing=smoothing).fit(X_train, y_train)
for name, model in (("fastgnb", stream), ("scikit-learn", other)):
    error = np.abs(model.var_ / at_once.var_ - 1).max()
    print(f"{name:13} largest relative difference from one fit: {error:.1e}")

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(np.cumsum([len(chunk) for chunk in chunks]), scores, label="partial_fit")
ax.axhline(at_once.score(X_test, y_test), color="0.3", linestyle="--", label="one fit")
ax.set(xlabel="rows learned", ylabel="accuracy on digits not learned")
_ = ax.legend()
