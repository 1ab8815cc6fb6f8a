"""The place Results: what came out."""
