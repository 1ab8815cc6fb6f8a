"""The runs of a benchmark: measures, comparison, classifiers."""
