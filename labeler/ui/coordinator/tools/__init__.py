"""The place Tools: methods for files, without a study."""
