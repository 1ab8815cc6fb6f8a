"""The browser shell."""
