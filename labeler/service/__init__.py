"""Functions that pages and commands call.

Each function is one action of a user, in a single transaction.
"""
