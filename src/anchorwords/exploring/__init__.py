"""A model as one page: the model -> a plain dict (``data``) -> HTML that needs nothing else (``page``)."""
