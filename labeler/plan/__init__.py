"""The plan, its changes, and the states of a study.

All functions are pure: they use no clock and no randomness except a seed.
"""
