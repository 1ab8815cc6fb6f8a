"""What comes out of a study: reports, labels, copies, decisions on split items."""
