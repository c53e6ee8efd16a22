"""Statistics to parameters: priors, smoothing, sharing, shrinkage and principal axes."""
