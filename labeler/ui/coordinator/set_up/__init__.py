"""Pages that set a study up."""
