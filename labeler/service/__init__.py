"""One function for each thing a person does, each one transaction; both shells call them."""
