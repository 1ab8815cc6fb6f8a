"""Plots of an item's runs, and time on task.

The package computes bins, axes, charts and thumbnails. All functions are pure.
"""
