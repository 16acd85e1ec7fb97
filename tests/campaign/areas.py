"""All areas of the campaign, in the order of the table."""

from __future__ import annotations

from . import concurrency, damage, disk, forged, kills, memory
from .campaign import Area

AREAS: tuple[Area, ...] = (
    *kills.AREAS,
    *disk.AREAS,
    *concurrency.AREAS,
    *damage.AREAS,
    *forged.AREAS,
    *memory.AREAS,
)
