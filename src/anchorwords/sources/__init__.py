"""Documents as the rest of the package sees them: a :class:`~anchorwords.sources.source.Source`, whatever they came as."""
