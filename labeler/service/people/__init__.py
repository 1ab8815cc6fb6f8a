"""People: sign-in, messages, and what coordinators may see."""
