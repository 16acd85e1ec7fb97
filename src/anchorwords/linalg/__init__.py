"""Pure numerics: nothing here knows what a topic is."""
