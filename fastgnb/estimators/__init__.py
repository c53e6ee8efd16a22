"""scikit-learn estimators and model selection."""
