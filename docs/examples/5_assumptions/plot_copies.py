"""
The same evidence three times
=============================

Three features are copies of one, with a little noise. Naive Bayes counts the same evidence three
times. The diagnosis measures the dependence, and suggests a member of the family that takes it into
account.
"""

import numpy as np

from fastgnb import GaussianBayes, GaussianNB, diagnose
from fastgnb.plot import CorrelationDisplay

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 20_000)
x = rng.normal(size=20_000) + y
X = np.column_stack([x + 0.1 * rng.normal(size=20_000) for _ in range(3)])

naive = GaussianNB().fit(X, y)
diagnosis = diagnose(naive, X, y)
for finding in diagnosis.findings:
    print("-", finding)
print(diagnosis.suggestion)

# %%
# The pooled correlations are near one, whatever the class:

_ = CorrelationDisplay.from_diagnosis(diagnosis)

# %%
# All members that model the correlations have the same log loss, up to noise. Of these, the pooled
# covariance has the fewest parameters. The labels hardly change; the probabilities do.

linear = GaussianBayes(tied=True).fit(X, y)
for name, model in (("naive Bayes", naive), ("linear discriminant", linear)):
    proba = model.predict_proba(X).max(axis=1)
    print(f"{name:20} accuracy {model.score(X, y):.1%}, mean probability {proba.mean():.1%}")

# %%
# Rows drawn from a naive model are normal and independent within classes, so their diagnosis finds
# nothing.

X_drawn, y_drawn = naive.sample(20_000, random_state=1)
print(diagnose(naive, X_drawn, y_drawn).suggestion)
