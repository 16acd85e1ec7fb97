"""Cleaning text before it is split into words: web addresses, markup, and what PDF files leave behind."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from .._lazy import cached_property
from ..exceptions import InputError
from ..kernels import kernels_for
from .joined import end_to_end

# Patterns begin with a literal where they can, which Python finds fast; what must precede it is looked at afterwards. Each
# takes time linear in the text: repetitions are bounded, or never tried twice from within.
# An address ends at a bracket, as in Markdown, but may hold pairs of parentheses.
_REST = r"""[^\s<>()\[\]"\0]*+(?:\([^\s<>()\0]*+\)[^\s<>()\[\]"\0]*+)*+"""
_SCHEME = re.compile(rf"://(?:\[[0-9a-fA-F:.]{{2,45}}\])?(?=[^\s<>]){_REST}")
_SCHEMES = ("http", "https", "ftp")
_WWW = tuple(re.compile(rf"{www}\.(?=[^\s<>]){_REST}") for www in ("www", "WWW", "Www"))
_AT = re.compile(r"@[\w.-]*")
_LOCAL_PART = re.compile(r"[\w.+-]{1,64}+$")
_HOST = re.compile(r"@[\w-]{1,64}+\.[\w.-]{1,200}+")
_NAME = re.compile(r"@\w+")
_HASHTAG = re.compile(r"#\w+")
_HYPHEN = re.compile(r"-\r?\n[ \t]*(?=[^\W\d_A-Z])")
_CID = re.compile(r"\(cid:[0-9]{1,6}\)")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")
# Elements that do not end a word, and others. Only these are markup, alone or with attributes: "a <b and c> d" and
# "List<String>" are not.
_INLINE = "a abbr b bdi bdo big cite code em font i kbd mark q s samp small span strike strong sub sup tt u var wbr"
_BLOCK = (
    "article aside audio blockquote body br button canvas caption center col colgroup dd del details dfn dir div dl dt "
    "embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe img input "
    "ins label legend li link main map meta nav noscript object ol optgroup option p param picture pre section select "
    "source summary svg table tbody td template textarea tfoot th thead time title tr track ul video"
)
_TAG = re.compile(
    rf"<(?:(?P<inline>/?(?:{_INLINE.replace(' ', '|')}))|/?(?:{_BLOCK.replace(' ', '|')}))"
    r"(?:\s[^<>=\0]{1,100}=[^<>\0]{0,5000})?\s?/?>",
    re.IGNORECASE,
)
# What is removed with all that is in it: where it begins and ends.
_HIDDEN = tuple(
    (re.compile(begin, re.IGNORECASE), re.compile(end, re.IGNORECASE))
    for begin, end in (("<!--", "-->"), (r"<script\b", r"</script\s*>"), (r"<style\b", r"</style\s*>"))
)
_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
)
_LIGATURE_MARKS = tuple(map(chr, _LIGATURES))
_SOFT_HYPHEN = "\u00ad"
_DIVIDED = ("-\n", "-\r")


@dataclass(frozen=True)
class Cleaning:
    """What is removed from text, or repaired in it, before it is split into words.

    Parameters
    ----------
    urls : bool
        Remove web addresses (``https://...``, ``www. ...``).
    emails : bool
        Remove e-mail addresses.
    html : bool
        Remove HTML tags, comments, scripts and style sheets, and decode entities (``&amp;``). Only the elements of HTML
        are tags: other text between angle brackets stays.
    mentions : bool
        Remove names that begin with @.
    hashtags : bool
        Remove words that begin with #. By default they are counted as words.
    hyphenation : bool
        Join words that are divided at the end of a line, and remove soft hyphens.
    pdf : bool
        Repair what the extraction of text from PDF files leaves behind: remove ``(cid:12)`` and write out ligatures.
    """

    urls: bool = True
    emails: bool = True
    html: bool = True
    mentions: bool = True
    hashtags: bool = False
    hyphenation: bool = True
    pdf: bool = True

    def __post_init__(self) -> None:
        for one in fields(self):
            if not isinstance(getattr(self, one.name), bool):
                raise InputError(f"{one.name} must be True or False, but is {getattr(self, one.name)!r}.")

    @classmethod
    def none(cls) -> Cleaning:
        """Return the record that leaves text as it is."""
        return cls(**{one.name: False for one in fields(cls)})

    @classmethod
    def of(cls, given: Any) -> Cleaning:
        """Return the record of the argument ``cleaning``: a Cleaning, True for the default, None or False for nothing."""
        if isinstance(given, cls):
            return given
        if given is None or given is False:
            return cls.none()
        if given is True:
            return cls()
        raise InputError(f"cleaning must be a Cleaning, True, False or None, but is {given!r}.")

    def to_dict(self) -> dict[str, bool]:
        """Return the record as a dict for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Cleaning:
        """Return the record that :meth:`to_dict` described, False for what is missing; ValueError if it is invalid."""
        known = {one.name: record.get(one.name, False) for one in fields(cls)}
        if not all(isinstance(value, bool) for value in known.values()):
            raise ValueError("its text rule has a cleaning that is neither true nor false")
        return cls(**known)

    @cached_property
    def _steps(self) -> tuple[_Step, ...]:
        return tuple(step for step in _STEPS if any(getattr(self, name) for name in step.options))

    @cached_property
    def _marks(self) -> tuple[str, ...]:
        """Marks without one of which there is nothing to clean in a text."""
        return tuple(dict.fromkeys(mark for step in self._steps for mark in step.marks))

    def may_change(self, text: str) -> bool:
        """Whether a text may need cleaning: if not, :meth:`__call__` returns it as it is."""
        return any(mark in text for mark in self._marks)

    def all(self, texts: Sequence[str]) -> list[str]:
        """Return several texts without what is to be removed: as each alone, but compiled code looks for the marks."""
        cleaned = list(texts)
        if self._marks:
            # Half of a surrogate pair has no UTF-8 of its own, but is in no mark either.
            raw, bounds = end_to_end([text.encode("utf-8", "surrogatepass") for text in texts])
            found = kernels_for().marks_in(raw, bounds, tuple(mark.encode() for mark in self._marks)).tolist()
            held = {bits: {mark for m, mark in enumerate(self._marks) if bits >> m & 1} for bits in set(found)}
            for place, bits in enumerate(found):
                if bits:
                    cleaned[place] = self._cleaned(texts[place], held[bits].__contains__)
        return cleaned

    def __call__(self, text: str) -> str:
        """Return a text without what is to be removed."""
        return self._cleaned(text, text.__contains__)

    def _cleaned(self, text: str, holds: Callable[[str], bool]) -> str:
        """Take the steps whose marks a text holds."""
        for step in self._steps:
            if any(map(holds, step.marks)):
                changed = step.change(text, self)
                if changed != text:  # which may have brought marks about: "&lt;" stands for "<"
                    text, holds = changed, changed.__contains__
        return text


# Where a text, an address or a word is to begin: the position of a match, None if there is none there.


def _scheme_before(text: str, at: int) -> int | None:
    for scheme in _SCHEMES:
        begin = at - len(scheme)
        if begin >= 0 and text[begin:at].lower() == scheme and not _is_part_of_word(text, begin - 1):
            return begin
    return None


def _starts_a_word(text: str, at: int) -> int | None:
    return None if _is_part_of_word(text, at - 1) else at


def _is_hashtag(text: str, at: int) -> int | None:
    return None if _is_part_of_word(text, at - 1, "&#") else at


def _follows_letter(text: str, at: int) -> int | None:
    return at if at > 0 and text[at - 1].isalpha() else None


def _is_part_of_word(text: str, at: int, others: str = "") -> bool:
    return at >= 0 and (text[at].isalnum() or text[at] == "_" or text[at] in others)


def _removed(text: str, pattern: re.Pattern[str], begins: Callable[[str, int], int | None], instead: str = " ") -> str:
    """Replace what matches a pattern and has the right thing before it."""
    parts, at = [], 0
    for found in pattern.finditer(text):
        begin = begins(text, found.start())
        if begin is not None and begin >= at:
            parts.append(text[at:begin])
            at = found.end()
    return instead.join([*parts, text[at:]]) if parts else text


def _without_addresses(text: str, cleaning: Cleaning) -> str:
    """Remove e-mail addresses and names that begin with @."""
    parts, at = [], 0
    for found in _AT.finditer(text):
        sign = found.start()
        if sign < at:
            continue
        local = _LOCAL_PART.search(text, max(at, sign - 65), sign)
        host = _HOST.match(text, sign) if local is not None and sign - local.start() <= 64 else None
        if host is not None and not _ends_in_letters(host.group()):  # a version, as in "next@12.0.9"
            continue
        if host is not None:
            begin, end, removed = local.start() if local else sign, host.end(), cleaning.emails
        elif (name := _NAME.match(text, sign)) is not None and not (
            _is_part_of_word(text, sign - 1, "@") or text.startswith("/", name.end())  # a package, as "@babel/core"
        ):
            begin, end, removed = sign, name.end(), cleaning.mentions
        else:
            continue
        if removed:
            parts.append(text[at:begin])
            at = end
    return " ".join([*parts, text[at:]]) if parts else text


def _ends_in_letters(host: str) -> bool:
    """Whether the last label of a host can be that of a domain."""
    return any(map(str.isalpha, host.rstrip(".-").rpartition(".")[2]))


def _without_markup(text: str, _: Cleaning) -> str:
    if "<" in text:
        for begin, end in _HIDDEN:
            text = _without_hidden(text, begin, end)
        text = _TAG.sub(_in_place_of_tag, text)
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text


def _in_place_of_tag(found: re.Match[str]) -> str:
    return "" if found["inline"] else " "


def _without_hidden(text: str, begin: re.Pattern[str], end: re.Pattern[str]) -> str:
    """Remove all that is between two marks; what has no second mark stays."""
    parts, at = [], 0
    while (first := begin.search(text, at)) is not None and (last := end.search(text, first.end())) is not None:
        parts.append(text[at : first.start()])
        at = last.end()
    return " ".join([*parts, text[at:]]) if parts else text


# ---- The steps, in the order in which they are taken.


class _Step(NamedTuple):
    """What some options of a :class:`Cleaning` do to a text.

    Attributes
    ----------
    options : tuple of str
        The options; one of them is enough.
    marks : tuple of str
        A text that holds none of them is left as it is.
    change : callable
        Function of the text and the Cleaning.
    """

    options: tuple[str, ...]
    marks: tuple[str, ...]
    change: Callable[[str, Cleaning], str]


def _without_schemes(text: str, _: Cleaning) -> str:
    return _removed(text, _SCHEME, _scheme_before)


def _without_www(text: str, _: Cleaning) -> str:
    for pattern in _WWW:
        text = _removed(text, pattern, _starts_a_word)
    return text


def _without_hashtags(text: str, _: Cleaning) -> str:
    return _removed(text, _HASHTAG, _is_hashtag)


def _with_joined_words(text: str, _: Cleaning) -> str:
    return _removed(text, _HYPHEN, _follows_letter, "")


def _without_soft_hyphens(text: str, _: Cleaning) -> str:
    return text.replace(_SOFT_HYPHEN, "")


def _without_glyph_numbers(text: str, _: Cleaning) -> str:
    return _CID.sub("", text)


def _without_ligatures(text: str, _: Cleaning) -> str:
    return text.translate(_LIGATURES)


_STEPS = (
    _Step(("html",), ("<", "&"), _without_markup),
    _Step(("urls",), ("://",), _without_schemes),
    _Step(("urls",), ("www.", "WWW.", "Www."), _without_www),
    _Step(("emails", "mentions"), ("@",), _without_addresses),
    _Step(("hashtags",), ("#",), _without_hashtags),
    _Step(("hyphenation",), _DIVIDED, _with_joined_words),
    _Step(("hyphenation",), (_SOFT_HYPHEN,), _without_soft_hyphens),
    _Step(("pdf",), ("(cid:",), _without_glyph_numbers),
    _Step(("pdf",), _LIGATURE_MARKS, _without_ligatures),
)
