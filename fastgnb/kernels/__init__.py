"""Compiled loops. They take arrays and scalars, check nothing and raise nothing."""
