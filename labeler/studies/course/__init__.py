"""Create a study and lead it through its states."""
