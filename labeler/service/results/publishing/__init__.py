"""A study as a data set that others can find, load, judge and cite: `bundle` writes it, the others are its parts."""
