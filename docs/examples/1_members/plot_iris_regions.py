"""
Decision regions of four members: irises
========================================

Members of the family differ in the shape of their covariances. Two features show what that means:
ellipses of one to three standard deviations, and the regions in which each species is predicted.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from fastgnb import GaussianBayes, GaussianNB
from fastgnb.plot import EllipseDisplay

iris = load_iris(as_frame=True)
X, y = iris.data, iris.target_names[iris.target]
features = ("sepal length (cm)", "petal length (cm)")

members = {
    "naive Bayes": GaussianNB(),
    "naive Bayes, spherical and tied": GaussianNB(covariance_type="spherical", tied=True),
    "quadratic": GaussianBayes(),
    "linear": GaussianBayes(tied=True),
}
fig, axes = plt.subplots(2, 2, figsize=(10, 9), layout="constrained")
for ax, (name, member) in zip(axes.flat, members.items(), strict=True):
    EllipseDisplay.from_estimator(member.fit(X, y), X, y, features=features, ax=ax)
    ax.set_title(name, pad=20)

# %%
# - **Naive Bayes** has ellipses along the axes. Each species has variances of its own, and so the
#   borders are curves.
# - **Spherical and tied** gives circles of one size, and straight borders half-way between means.
# - **Quadratic** turns each ellipse along the direction in which a species varies.
# - **Linear** gives all ellipses one shape, and straight borders.
#
# The models are fitted to four features. The other two are integrated out, so the regions are those
# of a flower of which only these two features are known.
