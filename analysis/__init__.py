"""Statistics for repeated benchmark runs and for those who judge them: arrays in, frozen results out.

Nothing is imported here, so that `import analysis.agreement` costs only what it needs.
"""
