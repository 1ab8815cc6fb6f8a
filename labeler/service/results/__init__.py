"""The results of a study: reports, label files, copies, and decisions on split items."""
