"""
Principal axes: handwritten digits
==================================

An image of eight by eight pixels has 64 features, which are correlated. ``PCAGaussianNB`` is naive
Bayes along principal axes. Models with other numbers of axes need no further pass over the rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fastgnb import ClassStats, PCAGaussianNB
from fastgnb.plot import AxesDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
stats = ClassStats.from_rows(X_train, y_train, scatter="full")

# %%
# How many axes?
# --------------
#
# The axes come from the scatter of all images, from that within classes, or from that of each class
# alone. Each point of these curves is a model estimated from the same statistics.

numbers = [2, 5, 10, 15, 20, 25, 30, 40, 50]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for rotation in ("total", "within", "class"):
    scores = []
    for n in numbers:
        model = PCAGaussianNB(n_components=n, rotation=rotation, var_smoothing=1e-3)
        scores.append(model.fit_stats(stats).score(X_test, y_test))
    ax.plot(numbers, scores, marker="o", label=f'rotation="{rotation}"')
ax.set(xlabel="number of axes", ylabel="accuracy on digits not learned")
_ = ax.legend()

# %%
# What the axes look like
# -----------------------
#
# An axis is an image too: it shows which pixels vary together, and in which direction.

model = PCAGaussianNB(n_components=10).fit_stats(stats)
fig, axes = plt.subplots(2, 5, figsize=(7, 3.2), layout="constrained")
for image, axis, share in zip(
    axes.flat, model.components_, model.explained_variance_ratio_, strict=True
):
    limit = np.abs(axis).max()
    image.imshow(axis.reshape(8, 8), cmap="PuOr", vmin=-limit, vmax=limit)
    image.set(title=f"{share:.0%}", xticks=[], yticks=[])
_ = fig.suptitle("Ten axes, and their shares of the variance")

# %%
# ``AxesDisplay`` shows how much of the variance each axis explains, and which features it combines.

_ = AxesDisplay.from_estimator(model)
