"""
Draw from a model: digits again
===============================

Every member models the density of the rows, and can draw new rows from it. The drawn images show
what a model has learned: naive Bayes knows how dark each pixel is, but not which pixels go
together.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from fastgnb import GaussianBayes, GaussianNB

X, y = load_digits(return_X_y=True)
models = {
    "naive Bayes": GaussianNB().fit(X, y),
    "full covariance": GaussianBayes(shrinkage=0.1).fit(X, y),
}

fig, axes = plt.subplots(len(models), 10, figsize=(8, 2.3), layout="constrained")
for row, (name, model) in zip(axes, models.items(), strict=True):
    X_drawn, y_drawn = model.sample(300, random_state=0)
    for digit, ax in enumerate(row):
        image = X_drawn[y_drawn == digit][0].reshape(8, 8)
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(name, rotation=0, ha="right", va="center")

# %%
# Drawn rows are also a test. Rows drawn from the model show the accuracy and the log evidence that
# it would have if its assumptions were true. Here it is less accurate on real images than on drawn
# ones.

for name, model in models.items():
    X_drawn, y_drawn = model.sample(2000, random_state=1)
    drawn, real = model.predict_log_evidence(X_drawn).mean(), model.predict_log_evidence(X).mean()
    print(f"{name}:")
    print(f"    accuracy {model.score(X_drawn, y_drawn):.3f} on drawn images, ", end="")
    print(f"{model.score(X, y):.3f} on real ones")
    print(f"    mean log evidence {drawn:.0f} and {real:.0f}")
