"""Intervals, resampling and tests that every part uses."""
