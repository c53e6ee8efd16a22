"""
A grid search that learns each fold once
========================================

How much should covariances be shrunk? ``StatsGridSearchCV`` has the interface of scikit-learn's
``GridSearchCV``. It learns the statistics of each fold once, and estimates all candidates from
them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from fastgnb import GaussianBayes
from fastgnb.select import StatsGridSearchCV, cross_validate

X, y = load_breast_cancer(return_X_y=True)
grid = {"shrinkage": np.round(np.linspace(0, 1, 21), 2), "tied": [False, True]}
search = StatsGridSearchCV(GaussianBayes(), grid, scoring="neg_log_loss", cv=5).fit(X, y)
print(f"best: shrinkage {search.best_params_['shrinkage']}, tied {search.best_params_['tied']}")

# %%
# The tumours have 30 features that depend on each other. One covariance for both classes has a far
# smaller log loss than one for each. Both gain from a little shrinkage, and lose when all
# correlations are shrunk to 0, which makes them naive Bayes.

results = search.cv_results_
shrinkage = np.array([p["shrinkage"] for p in results["params"]], dtype=float)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for tied, name in ((False, "one covariance for each class"), (True, "one for both")):
    rows = np.array([p["tied"] is tied for p in results["params"]])
    mean, spread = -results["mean_test_score"][rows], results["std_test_score"][rows]
    (line,) = ax.plot(shrinkage[rows], mean, marker="o", markersize=4, label=name)
    ax.fill_between(
        shrinkage[rows], mean - spread, mean + spread, color=line.get_color(), alpha=0.15
    )
ax.set(xlabel="shrinkage towards the diagonal", ylabel="log loss in five folds")
_ = ax.legend()

# %%
# ``cross_validate`` gives the scores of one estimator, by any of scikit-learn's scorers.

scores = cross_validate(search.best_estimator_, X, y, cv=5, scoring=["accuracy", "roc_auc"])
{name: float(values.mean().round(4)) for name, values in scores.items() if name.startswith("test_")}
