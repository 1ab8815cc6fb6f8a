"""Pages that show what came out."""
