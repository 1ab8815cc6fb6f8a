"""Give a study to others: copies and data sets."""
