"""Benchmarks, run by hand (`make bench`); they are not tests and assert no times."""
