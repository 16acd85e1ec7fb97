"""Topics of documents, given a model."""
