"""Define the two categories, and the answers that a reviewer can give."""

SIMILAR, DISSIMILAR = "similar", "dissimilar"
CATEGORIES = (SIMILAR, DISSIMILAR)
NOT_SURE, WITHDRAWN = "not sure", "withdrawn"
NO_CATEGORY = (NOT_SURE, WITHDRAWN)  # answers that are no category
