"""Verdicts of classifiers: computed, stored and explained."""
