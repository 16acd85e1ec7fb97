from __future__ import annotations

import pytest

from anchorwords.datasets import make_topics
from anchorwords.reproduce import reproduce
from tests.reproduce.helpers import draw_little, use_tiny, write_uci


@pytest.fixture(scope="session")
def corpora(tmp_path_factory):
    """Two UCI corpora, each in a folder of its own."""
    data = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("alpha", "beta")):
        corpus = make_topics(n_docs=400, n_words=150, n_topics=6, doc_length=60, random_state=seed).corpus
        write_uci(data / name, name, corpus)
    return data


@pytest.fixture(scope="session")
def finished(corpora, tmp_path_factory):
    """A whole run with its report: (output folder, Results, calls of progress)."""
    output = tmp_path_factory.mktemp("work") / "out"
    calls = []
    with pytest.MonkeyPatch.context() as patch:
        use_tiny(patch)
        draw_little(patch)
        results = reproduce(
            corpora, output, quick=True, n_jobs=1, progress=lambda *call: calls.append(call)
        )  # fmt: skip
    return output, results, calls


@pytest.fixture
def tiny(monkeypatch):
    """--quick means the tiny plan, and no figures are drawn."""
    use_tiny(monkeypatch)
    monkeypatch.setattr("anchorwords.reproduce.report.draw", lambda *_: {})
    return monkeypatch
