"""Parts of the scikit-learn estimator: batches, documents given a model, parameters."""
