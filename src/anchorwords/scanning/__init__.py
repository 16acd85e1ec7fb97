"""How many topics: many numbers of them learned from one decomposition, and compared."""
