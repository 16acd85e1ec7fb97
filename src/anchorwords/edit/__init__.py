"""Changes that a person makes to topics after the fit: every one gives a new, valid model."""
