"""Results that print as tables, display as tables in notebooks, and convert to data frames."""

from .record import TableList, TableRecord

__all__ = ["TableList", "TableRecord"]
