"""The plan, changes to it, and the life of a study. Pure functions: no clock, no randomness except a seed."""
