"""Pages for coordinators."""
