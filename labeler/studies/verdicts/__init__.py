"""Compute, store and explain the verdicts of classifiers."""
