"""Pages for setting up a study."""
