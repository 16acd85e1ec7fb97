"""What is done to bytes, and what may come of it: shared by the fuzz tests and the campaign."""

from __future__ import annotations

import numpy as np

TOKENS_THAT_HURT = [
    b"\n", b"\r", b"\0", b'"', b",", b"\t", b" ", b"-1", b"0", b"9", b"99999999999", b"999999999999999999999", b"1e400",
    b"NaN", b"Infinity", b"null", b"{", b"[", b"}", b"]", b"\\ud800", b"\xff", b"\xed\xa0\x80", b"\xc3", b"%",
]  # fmt: skip
WAYS = ["flip", "set", "insert", "delete", "cut", "repeat", "swap"]


def changed(raw, what):
    """Bytes after changes, each a way, a place, a number and some bytes."""
    for how, where, number, some in what:
        at = where % (len(raw) + 1)
        if how == "flip":
            raw = raw[:at] + bytes(byte ^ (1 << number % 8) for byte in raw[at : at + 1]) + raw[at + 1 :]
        elif how == "set":
            raw = raw[:at] + some + raw[at + len(some) :]
        elif how == "insert":
            raw = raw[:at] + some + raw[at:]
        elif how == "delete":
            raw = raw[:at] + raw[at + 1 + number % 16 :]
        elif how == "cut":
            raw = raw[:at]
        elif how == "repeat":
            raw = raw[: at + number % 64] + raw[at:]
        else:
            raw = raw[at:] + raw[:at]
    return raw


def drawn_changes(rng, size):
    """Up to four changes of a file of so many bytes; half of them are near its ends, where formats keep their sizes."""
    what = []
    for _ in range(rng.integers(1, 5)):
        near = int(rng.integers(0, 64))
        where = (int(rng.integers(0, size + 1)), near, max(size - near, 0))[rng.integers(0, 3)]
        raw = rng.bytes(int(rng.integers(0, 7)))
        some = TOKENS_THAT_HURT[rng.integers(0, len(TOKENS_THAT_HURT))] if rng.random() < 0.7 else raw
        what.append((WAYS[rng.integers(0, len(WAYS))], where, int(rng.integers(0, 256)), some))
    return what


def one_sentence(error):
    message = str(error)
    assert "\n" not in message
    assert len(message) < 2000


def sound(corpus):
    counts = corpus.counts
    assert counts.shape == (corpus.n_docs, corpus.n_words) == (corpus.n_docs, len(corpus.vocabulary))
    assert corpus.doc_ids is None or len(corpus.doc_ids) == corpus.n_docs
    counts.check_format(full_check=True)
    assert np.isfinite(counts.data).all()
    assert (counts.data > 0).all()
