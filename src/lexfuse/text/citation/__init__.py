"""Citations in legal text: found, normalised, resolved, masked and formatted."""
