"""The runs of an item as pictures: bins, axes, charts and thumbnails; and time on task. Pure functions."""
