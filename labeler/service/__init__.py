"""One function per user action, each a single transaction; pages and commands call them."""
