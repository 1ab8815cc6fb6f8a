"""Define the two categories, and the answers that a reviewer can give."""

SIMILAR, DISSIMILAR = "similar", "dissimilar"
CATEGORIES = (SIMILAR, DISSIMILAR)
NOT_SURE, WITHDRAWN = "not sure", "withdrawn"
ANSWERS = (*CATEGORIES, NOT_SURE, WITHDRAWN)
