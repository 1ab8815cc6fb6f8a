"""Pages for the labelling phase."""
