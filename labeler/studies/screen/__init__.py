"""Compute the pictures of an item's runs, and the time that a reviewer spends on an item.

The pictures are plots, charts and thumbnails. All functions of this package are pure.
"""
