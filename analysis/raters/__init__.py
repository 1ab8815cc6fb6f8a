"""Raters, people or classifiers: agreement, consensus, and how well a classifier does."""
