"""Measurements into a study and out of it, and looking through them."""
