"""Setting a study up, its plan, its people's parts in it and its course."""
