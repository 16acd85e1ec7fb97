"""A campaign of faults: every way we know to break a run, tried over and over, and counted.

``make campaign MINUTES=60`` runs the long form and prints the table; ``test_campaign.py`` runs a short form of every area.
``docs/reliability.md`` explains how to read the result and how a new feature joins.
"""
