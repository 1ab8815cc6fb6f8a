"""Methods: one folder for each question that is asked of measurements."""
