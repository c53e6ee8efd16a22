"""Which features and which classes a model tells apart, from its densities alone.

In: a fitted model. Out: tables of numbers in closed form: marginal densities, areas under the curve
and divergences of each feature between classes, and bounds on the errors between two classes.

Where to start
    importance.py     which features tell classes apart
    pair_measures.py  how far apart two densities of one variable are
    separation.py     which classes are told apart: Bhattacharyya distances and bounds on errors
    marginals.py      densities of one or two features, with all others integrated out

May import: `model` and the rooms below it.
"""
