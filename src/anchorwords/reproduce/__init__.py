"""The paper's experiments, run on corpora of one's own and written up as a report."""

from .run import reproduce

__all__ = ["reproduce"]
