"""
Is a feature normal? Irises
===========================

Gaussian naive Bayes assumes that each feature is normal within each class. ``diagnose`` says
which features are not, and what that costs in nats per row: the amount by which the log density of
a row is too small on average.
"""

from sklearn.datasets import load_iris

from fastgnb import GaussianNB, diagnose
from fastgnb.plot import DensityDisplay, NormalityDisplay

iris = load_iris(as_frame=True)
X, y = iris.data, iris.target_names[iris.target]
model = GaussianNB().fit(X, y)
diagnosis = diagnose(model, X, y)

for finding in diagnosis.findings:
    print("-", finding)
print(diagnosis.suggestion)

# %%
# The sepals are nearly normal: their quantiles, plotted against those of a normal distribution, lie
# near the diagonal. Those of the petals of *setosa* do not:

_ = NormalityDisplay.from_diagnosis(diagnosis)

# %%
# Their width was measured in steps of 0.1 cm, and fifty flowers have six different widths, most of
# them 0.2 cm. No normal distribution fits six values:

X["petal width (cm)"][y == "setosa"].value_counts().sort_index().to_dict()

# %%

_ = DensityDisplay.from_estimator(model, X, y, feature="petal width (cm)")

# %%
# It hardly matters here: these petals are so narrow that no other species is near. A finding says
# that an assumption fails, and not that the predictions are wrong. These are the numbers behind it,
# for each feature in each class:

for name, skewness, kurtosis, nats in zip(
    diagnosis.feature_names,
    diagnosis.skewness.T,
    diagnosis.excess_kurtosis.T,
    diagnosis.negentropy.T,
    strict=True,
):
    print(f"{name:18} skewness {skewness.round(1)}, excess kurtosis {kurtosis.round(1)},")
    print(f"{'':18} nats per row {nats.round(2)}")
