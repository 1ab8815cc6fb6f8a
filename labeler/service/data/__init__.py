"""Import, export and browse measurements."""
