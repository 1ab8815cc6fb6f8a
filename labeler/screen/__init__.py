"""Pictures of the runs of an item (bins, axes, charts and thumbnails) and time on task, as pure functions."""
