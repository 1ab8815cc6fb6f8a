"""The pages of reviewers."""
