"""HTML as tests look at it: well-formed or not, and what it shows."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "meta", "link", "base"}


class Parsed(HTMLParser):
    """Elements, attributes and text of a piece of HTML; AssertionError if a tag is not closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"{self._open} are not closed"

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open, f"{tag} is closed, but nothing is open"
        assert self._open.pop() == tag

    def handle_data(self, data):
        for tag in set(self._open):
            self.texts[tag][-1] += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def names(self) -> set[str]:
        """Names of all elements."""
        return {tag for tag, _ in self.tags}
