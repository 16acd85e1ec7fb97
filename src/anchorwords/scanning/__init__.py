"""Choice of the number of topics: models of many sizes from one decomposition, compared."""
