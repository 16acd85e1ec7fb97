"""Reading topics: their words, and tables of them."""
