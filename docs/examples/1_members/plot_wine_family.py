"""
One pass, many models: wines
============================

Thirteen chemical measurements predict which of three growers a wine comes from. All members of the
family that take numbers are estimated here from the statistics of a single pass over the rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from fastgnb import ClassStats, GaussianBayes, GaussianNB, PCAGaussianNB

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=1, test_size=0.5)

stats = ClassStats.from_rows(X_train, y_train, scatter="full")

# %%
# ``fit_stats`` estimates a model from statistics. The rows are not needed any more.

members = {
    "naive Bayes": GaussianNB(),
    "naive Bayes, tied": GaussianNB(tied=True),
    "quadratic": GaussianBayes(),
    "quadratic, shrunk": GaussianBayes(shrinkage="oas"),
    "linear": GaussianBayes(tied=True),
    "five principal axes": PCAGaussianNB(n_components=5, standardize=True),
    "five axes within classes": PCAGaussianNB(n_components=5, standardize=True, rotation="within"),
}
models = {name: member.fit_stats(stats) for name, member in members.items()}
losses = {name: log_loss(y_test, model.predict_proba(X_test)) for name, model in models.items()}

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
bars = ax.barh(list(losses), list(losses.values()))
ax.bar_label(bars, fmt="{:.3f}", padding=3)
ax.invert_yaxis()
ax.margins(x=0.15)
_ = ax.set(xlabel="log loss on wines not learned (smaller is better)")

# %%
# The quadratic model estimates 91 variances and covariances for each grower from some thirty wines,
# which is too many: it is confident, and sometimes wrong. Shrinking the covariances towards their
# diagonals, or pooling them over the growers, helps.

for name, model in models.items():
    print(f"{name:26} {model.score(X_test, y_test):.1%} correct")
