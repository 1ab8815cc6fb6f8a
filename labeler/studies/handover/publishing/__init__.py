"""Publish a study as a data set that others can find, load, check and cite. The module `bundle` writes the data set."""
