"""Who labels what, how a plan changes, and the life of a study. Pure functions: no clock, no chance but a seed."""
