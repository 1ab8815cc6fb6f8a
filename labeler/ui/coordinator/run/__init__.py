"""Pages for the time of labelling."""
