"""Manage people: sign-in, messages between reviewers and coordinators, and what coordinators may see."""
