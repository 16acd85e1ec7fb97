from __future__ import annotations

import signal
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.export import document_topics
from anchorwords.infer import compose

# Examples are not timed: the first one compiles kernels, and machines differ.
settings.register_profile("anchorwords", deadline=None)
settings.load_profile("anchorwords")

# A shell that starts the suite in the background has it ignore Ctrl-C, and every process that a test starts as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels():
    """All kernels compiled before the first test: commands that compile some say so, and tests look at what they say."""
    aw.warmup()


@cache
def _corpus(name: str, n_words: int | None) -> aw.Corpus:
    return aw.read_corpus(DATA / name).prune(n_words=n_words)


@pytest.fixture(scope="session")
def real_corpus():
    """Function (name, n_words) -> pruned Corpus; skips where the corpora are not beside the checkout."""

    def load(name: str, n_words: int | None = None) -> aw.Corpus:
        if not (DATA / name).is_dir():
            pytest.skip(f"the real corpus {name} is not at {DATA}")
        return _corpus(name, n_words)

    return load


@pytest.fixture
def failing_compositions(monkeypatch):
    """Function (error): written compositions come in small parts, and after the first one this happens."""

    def install(error: BaseException) -> None:
        right = document_topics.compositions

        def wrong(*arguments, **options):
            yield next(iter(right(*arguments, **options)))
            raise error

        monkeypatch.setattr(compose, "_SHARES", 4 * 50)
        monkeypatch.setattr(document_topics, "compositions", wrong)

    return install


@pytest.fixture(scope="session")
def data_folder() -> Path:
    if not DATA.is_dir():
        pytest.skip(f"the real corpora are not at {DATA}")
    return DATA


@pytest.fixture(scope="session")
def sampled():
    """A small sampled corpus with known topics."""
    return make_topics(n_docs=600, n_words=120, n_topics=5, doc_length=60, random_state=7)


@pytest.fixture(scope="session")
def nonnegative_factor():
    """Y with Y Y' >= 0, sum one, rank K, N > K, two words that are the same."""
    rng = np.random.default_rng(3)
    Y = rng.gamma(0.3, size=(80, 6))
    Y[11] = Y[10]
    return Y / np.sqrt((Y.sum(axis=0) ** 2).sum())
