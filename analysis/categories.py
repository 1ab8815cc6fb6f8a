"""The two categories, and the answers a reviewer can give."""

SIMILAR, DISSIMILAR = "similar", "dissimilar"
CATEGORIES = (SIMILAR, DISSIMILAR)
NOT_SURE, WITHDRAWN = "not sure", "withdrawn"
ANSWERS = (*CATEGORIES, NOT_SURE, WITHDRAWN)
