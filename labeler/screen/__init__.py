"""Pictures of the runs of an item, and time on task.

The pictures are bins, axes, charts and thumbnails. All functions are pure.
"""
