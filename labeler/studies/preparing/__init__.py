"""Set up a study, create and change the plan, assign items to people, and move the study through its states."""
