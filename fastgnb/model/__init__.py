"""One model: a member of the family with its options, statistics and parameters."""
