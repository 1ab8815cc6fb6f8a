"""Scripts that try to lose answers, to see what is hidden, and to get in; each says PASS or FAIL with figures."""
