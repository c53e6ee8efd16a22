"""scikit-learn estimators over a model, and model selection.

Public as `fastgnb.GaussianNB` and so on, and as `fastgnb.select`.

In: X, y and sample_weight as scikit-learn passes them. Out: fitted attributes and predictions. An
estimator checks its input by `input`, learns statistics by `stats`, and leaves the rest to its
`Model`: it translates, and computes nothing itself. This is the lowest room that imports
scikit-learn.

Where to start
    base.py              learning, which all members share: fit, partial_fit, merge
    naive_bayes.py       GaussianNB; gaussian_bayes.py: GaussianBayes; pca.py: PCAGaussianNB
    mixed.py             MixedNB, whose rows have categorical columns
    answers.py           predict, predict_proba, decision_function, score, and sample
    checks.py            scikit-learn's checks of rows and labels
    holder.py            fitted attributes from a model, and back
    held.py              whether attributes were edited after learning
    member_classes.py    the estimator of each member, and scikit-learn's parameter constraints
    locks.py             threads that learn into one model take turns
    selection.py         StatsGridSearchCV
    cross_validation.py  cross_validate
    folds.py             statistics of folds, which both of these share

May import: every room but `files` and `cli`.
"""
