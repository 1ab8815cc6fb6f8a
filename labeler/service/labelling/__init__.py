"""What reviewers do, and what coordinators answer them."""
