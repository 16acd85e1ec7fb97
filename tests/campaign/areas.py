"""All areas of the campaign, in the order of the table."""

from __future__ import annotations

from .campaign import Area

AREAS: tuple[Area, ...] = ()
