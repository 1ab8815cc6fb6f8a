"""Provide the functions that pages and commands call.

Each function performs one action of a user in a single transaction.
"""
