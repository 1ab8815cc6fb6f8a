"""Give a study to others: copies, merges and data sets."""
