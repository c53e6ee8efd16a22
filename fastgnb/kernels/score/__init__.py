"""Rows and parameters to joint log likelihoods, fused with what is wanted of them."""
