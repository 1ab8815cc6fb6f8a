"""The commands that work on a study."""
