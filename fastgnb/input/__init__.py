"""Array-likes and frames to plain arrays, labels to codes, and every check of them."""
