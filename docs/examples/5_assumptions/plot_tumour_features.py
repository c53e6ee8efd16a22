"""
Which features matter? Tumours
==============================

The means and variances of a fitted model say how well each feature alone separates the classes,
without the rows: the area under its ROC curve, the Jeffreys divergence and Fisher's ratio have
closed forms.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from fastgnb import GaussianNB
from fastgnb.plot import DensityDisplay, ImportanceDisplay

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
model = GaussianNB().fit(X, y)

display = ImportanceDisplay.from_estimator(model)

# %%
# The numbers behind the plot:

display.frame().head()

# %%
# The best feature and the worst, as densities of both classes:

table = display.frame()
best, worst = table.index[0], table.index[-1]
fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for ax, feature in zip(axes, (best, worst), strict=True):
    DensityDisplay.from_estimator(model, X, y, feature=feature, ax=ax)
