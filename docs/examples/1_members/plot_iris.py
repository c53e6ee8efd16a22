"""
A first model: irises
=====================

Four measurements of a flower predict which of three species of iris it is. Gaussian naive Bayes
describes each species by a mean and a variance of each measurement, and these numbers can be read.
"""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

from fastgnb import GaussianNB
from fastgnb.plot import DensityDisplay

iris = load_iris(as_frame=True)
X, y = iris.data, iris.target_names[iris.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

model = GaussianNB().fit(X_train, y_train)
print(f"{model.score(X_test, y_test):.0%} of the flowers not learned are classified correctly")

# %%
# What it has learned
# -------------------
#
# ``theta_`` holds the mean of each feature in each class, and ``var_`` its variance. Petals differ
# most: those of *setosa* are short by many standard deviations of their own.

feature = "petal length (cm)"
_ = DensityDisplay.from_estimator(model, X_train, y_train, feature=feature)

# %%
# What it predicts
# ----------------
#
# Probabilities compare the species with each other. For a flower between *versicolor* and
# *virginica*, both have some.

doubtful = np.argmin(model.predict_proba(X_test).max(axis=1))
proba = model.predict_proba(X_test.iloc[[doubtful]])[0]
dict(zip(model.classes_.tolist(), proba.round(3).tolist(), strict=True))

# %%
# The log evidence, log p(x), says how well a row fits the model at all. A flower with petals of
# twenty centimetres belongs to no species, although its probabilities still sum to one.

giant = X_test.iloc[:1].assign(**{feature: 20.0})
model.predict_log_evidence(X_test.iloc[:3]).round(1), model.predict_log_evidence(giant).round(1)
