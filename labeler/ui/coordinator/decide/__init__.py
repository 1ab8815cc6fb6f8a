"""The place Decide: what only a coordinator can settle."""
