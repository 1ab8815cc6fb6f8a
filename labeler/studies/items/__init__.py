"""Import, curate, browse and draw the items of a study."""
