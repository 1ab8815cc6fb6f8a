"""Benchmarks, run by hand (`make bench`); nothing here is a test, and no test asserts a time."""
