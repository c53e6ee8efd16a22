"""Statistics: numbers that add, subtract and merge."""
