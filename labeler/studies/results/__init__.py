"""Produce the results of a study: reports, label files, anonymised copies, and decisions on split items."""
