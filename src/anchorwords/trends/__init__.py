"""How topics and their words change over time."""
