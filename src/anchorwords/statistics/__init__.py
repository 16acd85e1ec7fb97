"""Co-occurrence of words in documents (Eq. 1), as a matrix and as an operator."""
