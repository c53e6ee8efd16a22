"""Rows to per-class sums in one read, and the merge of such sums."""
