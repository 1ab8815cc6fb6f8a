"""Set up a study, create and change its plan, assign work to people, and move the study through its states."""
