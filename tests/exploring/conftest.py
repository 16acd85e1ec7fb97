"""A browser that looks at pages, a page to look at, and what no page may do, looked for every time."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exploring.page import explorer
from anchorwords.interpret.order import reading_order

# Where no browser may be missing, as on the machine that judges changes, a test that cannot look fails.
REQUIRED = os.environ.get("ANCHORWORDS_BROWSER") == "required"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DESKTOP = {"width": 1280, "height": 900}
N_TOPICS = 9


def absent(reason: str) -> None:
    """Skip, or fail where a browser is required."""
    if REQUIRED:
        pytest.fail(f"{reason}, and ANCHORWORDS_BROWSER=required is set")
    pytest.skip(reason)


@pytest.fixture(scope="package")
def browser():
    """Chromium without a window. For this package only: Playwright keeps an event loop running while it is open."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("Playwright is not installed: pip install 'anchorwords[browser]'")
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        absent("no Chromium was found: install one, or name it in the environment variable CHROMIUM")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass
class Visits:
    """Pages opened from disk with the network off, and what they said and asked for."""

    browser: Any
    complaints: list[str] = field(default_factory=list)
    contexts: dict[str, Any] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)

    def __call__(self, path: Path, address: str = "", **options: Any) -> Any:
        """The page of a file; those opened with the same options share what is remembered."""
        if repr(options) not in self.contexts:
            self.contexts[repr(options)] = self._context(**options)
        self.own.add(path.as_uri())
        page = self.contexts[repr(options)].new_page()
        page.goto(path.as_uri() + address)
        return page

    def _context(self, **options: Any) -> Any:
        context = self.browser.new_context(**{"viewport": DESKTOP, "offline": True, **options})
        context.set_default_timeout(10_000)
        context.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        context.on("weberror", lambda error: self.complaints.append(f"error: {error.error}"))
        context.on("request", self._asked)
        return context

    def _asked(self, request: Any) -> None:
        if request.url.partition("#")[0] not in self.own and not request.url.startswith("data:"):
            self.complaints.append(f"request: {request.url}")

    def forget(self) -> None:
        """Close everything: what is opened next begins anew."""
        for context in self.contexts.values():
            for page in context.pages:
                page.evaluate("0")  # what was said before has then arrived
            context.close()
        self.contexts.clear()


@pytest.fixture
def visit(browser):
    """Function (path, address, **options) -> page; at the end nothing was said on the console and nothing asked for."""
    visits = Visits(browser)
    yield visits
    visits.forget()
    assert not visits.complaints, "\n".join(visits.complaints)


@dataclass(frozen=True)
class Written:
    """A page on disk and what it was made of."""

    path: Path
    model: Any
    corpus: Any = None

    @property
    def record(self) -> aw.TopicModel:
        return getattr(self.model, "model_", self.model)

    @property
    def words(self) -> tuple[str, ...]:
        return self.record.vocabulary

    @property
    def ordered(self) -> list[int]:
        """Ids of topics in reading order."""
        return reading_order(self.record)


def spoken(n: int) -> list[str]:
    """n distinct words of small letters, none the beginning of another."""
    return ["".join(letters) for letters in product("bdfgklmn", "aeiou", "prstvz", "aio")][:n]


@pytest.fixture(scope="package")
def fitted(browser, tmp_path_factory):
    """The page of a fitted model with everything: documents and their texts, time, groups, error bars, convergence."""
    made = make_topics(n_docs=1200, n_words=600, n_topics=N_TOPICS, doc_length=90, random_state=5)
    drawn, shares = made.corpus, made.compositions
    names = [f"report {m}" for m in range(drawn.n_docs)]
    # The first topic rises from year to year, and groups differ in their topics.
    years = 2000 + np.argsort(np.argsort(shares[:, 0] + 0.2 * np.cos(np.arange(1200.0)))) * 8 // 1200
    venues = np.array(["north", "south", "<b>east</b>", "west"])[shares.argmax(axis=1) % 4]
    corpus = aw.Corpus(drawn.counts, spoken(drawn.n_words), names, documents={"year": years, "venue": venues})
    model = aw.AnchorTopicModel(N_TOPICS).fit(corpus)
    model.measure_stability(corpus, n_replicates=4, n_shards=8)
    texts = [f"How report {m} begins." for m in range(drawn.n_docs)]
    path = tmp_path_factory.mktemp("page") / "topics.html"
    explorer(model, path, corpus, title="Nine topics", texts=texts, time="year", by="venue")
    return Written(path, model, corpus)


def drawn_model(n_words: int, n_topics: int, words_a_topic: int, vocabulary: Any = None) -> aw.TopicModel:
    """A model of any size, drawn at random: topics of some words each and an anchor of their own, few of them related."""
    rng = np.random.default_rng(11)
    frequency = rng.permutation(np.arange(1.0, n_words + 1.0) ** -0.9)
    B = np.zeros((n_words, n_topics))
    anchors = rng.choice(n_words, n_topics, replace=False)
    rest = np.setdiff1d(np.arange(n_words), anchors)
    # Every word is in some topic.
    B[rest, rng.integers(n_topics, size=rest.size)] = 0.2 * frequency[rest]
    for k in range(n_topics):
        words = rng.choice(rest, words_a_topic, replace=False)
        B[words, k] += frequency[words] * rng.gamma(0.5, size=words_a_topic)
    B[anchors, np.arange(n_topics)] = 3e-3 * B.sum(axis=0)
    B /= B.sum(axis=0)
    G = np.diag(rng.gamma(4.0, size=n_topics)) + 0.03 * rng.gamma(0.3, size=(n_topics, n_topics))
    A = G @ G.T / (G.sum(axis=0) ** 2).sum()
    p = B @ A.sum(axis=1)
    return aw.TopicModel(
        B=B,
        A=A,
        A_raw_sum=1.0,
        anchors=anchors,
        word_topics=B * A.sum(axis=1) / p[:, None],
        word_probs=p,
        vocabulary=tuple(f"word{i}" for i in range(n_words)) if vocabulary is None else vocabulary,
        anchor_rows=(B[anchors] @ A @ B.T) / p[anchors][:, None],
    )


# ---- What is read off a page.


def heard(page: Any) -> Any:
    """The page after it has heard of what happened: of a new address it does so a moment later."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    return page


def settled(page: Any) -> Any:
    """The page after pictures are drawn, which takes them up to two frames."""
    return heard(heard(page))


def go(page: Any, address: str) -> None:
    """Change the address, as a link does."""
    page.evaluate("address => { location.hash = address }", address)
    heard(page)


def view_of(page: Any) -> str:
    return heard(page).locator("main").get_attribute("data-view")


def heading_of(page: Any) -> str:
    return heard(page).locator("h1").text_content()


def texts_of(page: Any, selector: str) -> list[str]:
    return page.locator(selector).all_text_contents()


def rows_of(page: Any) -> list[int]:
    """Topics in the order of the table."""
    return (
        settled(page)
        .locator("table.topics tbody tr")
        .evaluate_all("rows => rows.map(row => Number(row.dataset.topic))")
    )


def hash_of(page: Any) -> str:
    return heard(page).evaluate("location.hash")


def overflow_of(page: Any) -> float:
    """Pixels by which the page is wider than its window."""
    width = page.viewport_size["width"]
    # On a phone the window itself grows with what sticks out, so that its own width says nothing.
    return settled(page).evaluate("document.documentElement.scrollWidth") - width
