"""The application: people label whether the repeated runs of a benchmark are similar."""

__version__ = "1.0.0"
