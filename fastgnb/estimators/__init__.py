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
    exports.py           to_sql and to_onnx
    checks.py            scikit-learn's checks of rows and labels
    holder.py            fitted attributes from a model, and back
    chunks.py            the short way of partial_fit
    held.py              attributes that wait until they are read, and whether they were edited
    member_classes.py    the estimator of each member, and scikit-learn's parameter constraints
    locks.py             threads that learn into one model take turns
    selection.py         StatsGridSearchCV
    cross_validation.py  cross_validate
    cross_val_predict.py cross_val_predict
    folds.py             scores of candidates on every split, which the search and these share
    fold_stats.py        statistics of the training rows of splits; fold_accuracy.py: of test rows
    strata.py            stratified folds, learned all at once
    left_out.py          one row left out at a time, in one pass

May import: every room but `files` and `cli`.
"""
