"""scikit-learn estimators over a model, and model selection.

Public as `fastgnb.GaussianNB` and so on, and as `fastgnb.select`.

In: X, y and sample_weight as scikit-learn passes them. Out: fitted attributes and predictions. An
estimator checks its input by `input`, learns statistics by `stats`, and leaves the rest to its
model: it translates, and computes nothing itself. This is the lowest room that imports
scikit-learn.

Where to start
    base.py             how all members learn: fit, partial_fit, fit_stats, merge, reestimate
    answers.py          what they answer: predict, predict_proba, decision_function, sample
    holder.py           parameters and fitted attributes to a `Model` and back; the rule for threads
    held.py             the model of the attributes, for as long as these are not edited
    checks.py           scikit-learn's checks of rows and labels
    faces.py            which estimator is whose, and scikit-learn's constraints from the registry
    naive_bayes.py      GaussianNB
    gaussian_bayes.py   GaussianBayes
    pca.py              PCAGaussianNB
    mixed.py            MixedNB
    selection.py        StatsGridSearchCV
    cross_validation.py cross_validate
    folds.py            statistics of folds, which both of these share
    locks.py            threads that learn into one model take turns

May import: every room but `files` and `cli`.
"""
