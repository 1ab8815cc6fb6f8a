"""Importing, exporting and browsing measurements."""
