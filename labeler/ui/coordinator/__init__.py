"""The pages of coordinators."""
