"""
Evaluate a model: tumours
=========================

Thirty measurements of the cells of a tumour predict whether it is benign. ``fastgnb.evaluate``
reads the rows once, and measures how good the labels, the ranking and the probabilities are.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from fastgnb import GaussianNB, evaluate
from fastgnb.plot import ConfusionMatrixDisplay, PrecisionRecallDisplay, RocCurveDisplay

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

model = GaussianNB().fit(X_train, y_train)
evaluation = evaluate(model, X_test, y_test)
print(f"accuracy {evaluation.accuracy:.3f}, log loss {evaluation.log_loss:.3f}")
print(f"AUC {evaluation.auc('malignant').value:.4f}")

# %%
# Which tumours are confused?
# ---------------------------

_ = ConfusionMatrixDisplay.from_evaluation(evaluation, normalize=None)

# %%
# How well are they ranked?
# -------------------------
#
# The curves depend only on the order of the rows. Of two tumours, one malignant and one benign, the
# area under the ROC curve is the probability that the malignant one gets the higher score.
# Rows are ranked by log odds, which differ even where probabilities are rounded to 1.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
RocCurveDisplay.from_evaluation(evaluation, labels="malignant", ax=axes[0])
_ = PrecisionRecallDisplay.from_evaluation(evaluation, labels="malignant", ax=axes[1])

# %%
# The numbers behind each plot are a data frame.

RocCurveDisplay.from_evaluation(evaluation, labels="malignant", ax=axes[0]).frame().head()
