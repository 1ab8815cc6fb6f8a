"""The plan, its changes, and the states of a study, as pure functions without clock or randomness except a seed."""
