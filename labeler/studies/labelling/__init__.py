"""The work of reviewers, and the answers of coordinators to their comments."""
