"""All areas of the campaign, in the order of the table."""

from __future__ import annotations

from . import concurrency, damage, degenerate, disk, environment, forged, kills, load, memory, readers
from .campaign import Area

AREAS: tuple[Area, ...] = (
    *kills.AREAS,
    *disk.AREAS,
    *concurrency.AREAS,
    *damage.AREAS,
    *forged.AREAS,
    *readers.AREAS,
    *memory.AREAS,
    *environment.AREAS,
    *degenerate.AREAS,
    *load.AREAS,
)
