"""Compute plans, changes of plans, and the states of a study.

The results depend only on the arguments: no function uses a clock, or randomness other than a seed.
"""
