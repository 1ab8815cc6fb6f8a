"""Scripts that try to lose answers, to find hidden data and to get access; each reports PASS or FAIL with figures."""
