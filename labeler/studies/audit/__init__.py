"""Check that nobody has altered the data of a study, and give reviewers receipts of their labels."""
