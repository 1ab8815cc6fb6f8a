"""People: sign-in, messages, and what a coordinator may see."""
