"""Pages for the results of a study."""
