"""The place Study: how the study goes, its plan, the guide of the reviewers, and the log."""
