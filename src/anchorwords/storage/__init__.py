"""Everything on disk: folders written whole or not at all, tensors, and the layouts of corpora, sketches and models."""
