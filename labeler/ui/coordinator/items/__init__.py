"""The place Items: what is being labelled."""
