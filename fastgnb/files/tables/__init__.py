"""Table files to batches of rows, and answers to table files."""
