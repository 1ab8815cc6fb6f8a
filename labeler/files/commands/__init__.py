"""The commands that read files."""
