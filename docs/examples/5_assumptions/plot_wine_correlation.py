"""
Are features independent? Wines
===============================

"Naive" means that features are independent within each class. They hardly ever are.
``diagnose`` says how many nats per row the features share, which pairs share most, and whether a
model with correlations predicts rows that it has not learned better.
"""

from sklearn.datasets import load_wine

from fastgnb import GaussianNB, diagnose
from fastgnb.plot import CorrelationDisplay

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target_names[wine.target]
diagnosis = diagnose(GaussianNB().fit(X, y), X, y)

for finding in diagnosis.findings:
    print("-", finding)

# %%
# Wines of one grower with many phenols have many flavanoids, since flavanoids are phenols. The
# colours show the correlations within each grower's wines, and those pooled over the growers.

_ = CorrelationDisplay.from_diagnosis(diagnosis)

# %%
# The five pairs that share most:

for pair in diagnosis.pairs(5):
    print(f"{pair.first:20} {pair.second:20} r = {pair.correlation:+.2f}  {pair.nats:.2f} nats")

# %%
# Is it worth a covariance? The candidates are other members of the family, estimated from the same
# statistics. Each is scored on rows that it has not learned.

for candidate in diagnosis.candidates:
    print(
        f"{candidate.name:26} log loss {candidate.log_loss:.3f}, "
        f"gain {candidate.gain:+.3f} (standard error {candidate.standard_error:.3f})"
    )
print(diagnosis.suggestion)

# %%
# The linear discriminant halves the log loss. With 178 wines, that is hardly more than chance: the
# gain is about its own standard error, and the suggestion is to keep the naive model until there
# are more rows. Features that share two nats per row make its probabilities overconfident all the
# same, so do not read 0.999 as one error in a thousand.
