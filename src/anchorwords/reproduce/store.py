"""Results on disk, one file a configuration, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from .._version import __version__
from ..storage.writing import file_written_whole

# Raised when the meaning of a stored result changes.
_FORMAT = 2


def file_name(text: str) -> str:
    """Part of a name of a file that is one everywhere, and of a link."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", text)


class Store:
    """Results by configuration.

    Parameters
    ----------
    folder : Path
        Made when the first result is written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, configuration: dict[str, Any]) -> Any:
        """The stored result of a configuration, or None where there is none, or none that can be read."""
        try:
            stored = json.loads(self.path(configuration).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return stored.get("result") if isinstance(stored, dict) else None

    def write(self, configuration: dict[str, Any], result: Any) -> None:
        """Keep a result, of JSON's types."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with file_written_whole(self.path(configuration)) as partial:
            partial.write_text(json.dumps({"configuration": configuration, "result": result}), encoding="utf-8")

    def path(self, configuration: dict[str, Any]) -> Path:
        """Where the result of a configuration is."""
        text = json.dumps({"format": _FORMAT, "version": __version__, **configuration}, sort_keys=True)
        parts = (str(configuration.get(key, "")) for key in ("series", "corpus", "n_words", "n_components"))
        label = "-".join(map(file_name, parts))
        return self._folder / f"{label}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
