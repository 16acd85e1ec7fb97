"""Draw the pictures of the explorer: real pages of real corpora in headless Chromium (pip install '.[browser]').

python docs/make_explorer_images.py [--data FOLDER] [--models FOLDER] [--only NAME [NAME ...]]

With --models, fitted models are kept in that folder and read from it the next time.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import anchorwords as aw
from anchorwords.datasets import DOCSTRING_STOP_WORDS, docstring_texts

HERE = Path(__file__).resolve().parent
DESKTOP = {"width": 1360, "height": 850}
PHONE = {"width": 390, "height": 844}
# Between the screens of phones, and around them.
MARGIN, BACKGROUND = 24, (208, 213, 221)


class Documents(NamedTuple):
    """A corpus and the options of the explorer that belong to it, such as the texts of its documents."""

    corpus: aw.Corpus
    options: dict[str, Any]


class Shown(NamedTuple):
    """A page: its title, how its documents are read, and how its model is fitted."""

    title: str
    read: Callable[[Path], Documents]
    n_topics: int
    n_replicates: int = 0
    from_text: bool = False


class View(NamedTuple):
    """What a picture shows: a page, an address within it, and the colours."""

    page: str
    address: str
    colours: str = "light"


def docstrings(data: Path) -> Documents:  # noqa: ARG001
    texts = [{"name": name, "text": text} for name, text in docstring_texts().items()]
    vectorizer = aw.TextVectorizer(stop_words=list(DOCSTRING_STOP_WORDS))
    return Documents(vectorizer.fit_corpus(texts, id_column="name")[1], {})


def papers(data: Path) -> Documents:
    names = (data / "nips12" / "docs.nips12.txt").read_text().splitlines()
    corpus = aw.read_corpus(data / "nips12", table={"paper": names}, title_column="paper")
    return Documents(corpus.prune(n_words=5000), {})


def playlists(data: Path) -> Documents:
    with gzip.open(data / "spotify" / "docs.spotify.tsv.gz", "rt", encoding="utf-8") as stream:
        weeks, _, names = zip(*(line.rstrip("\n").split("\t") for line in stream), strict=True)
    corpus = aw.read_corpus(data / "spotify", table={"playlist": names, "week": weeks}, title_column="playlist")
    return Documents(corpus.prune(n_words=20000), {})


def reviews(data: Path) -> Documents:
    corpus = aw.read_corpus(data / "imdb100k")
    # Words with an apostrophe are contractions and possessives: "didn't", "movie's".
    joined = [word for word in corpus.vocabulary if "'" in word]
    return Documents(corpus.prune(stop_words=["english", *joined]), {})


def cve_by_year(data: Path) -> Documents:
    with gzip.open(data / "cve" / "cve.tsv.gz", "rt", encoding="utf-8") as stream:
        lines = [line.rstrip("\n").split("\t", 1) for line in stream]
    rows = [{"id": name, "year": int(name.split("-")[1]), "text": text} for name, text in lines]
    corpus = aw.read_corpus(rows, text_column="text", id_column="id", columns="year")
    return Documents(corpus, {"time": "year", "texts": [text for _, text in lines]})


def newsgroups(data: Path) -> Documents:
    labels = [line.split("\t")[1] for line in (data / "20ng" / "labels.20ng.tsv").read_text().splitlines()]
    corpus = aw.read_corpus(data / "20ng", table={"group": labels})
    # The same words as in docs/make_gallery.py: the rule for words of text, applied to counts.
    return Documents(corpus.prune(stop_words="english", min_df=27, max_df=0.5), {"by": "group"})


PAGES = {
    "demo": Shown("Docstrings of scientific Python", docstrings, 20, 20),
    "nips12": Shown("NIPS papers, 1987 to 1999", papers, 20, 20),
    "cve": Shown("Vulnerabilities by year", cve_by_year, 30, from_text=True),
    "20ng": Shown("Twenty newsgroups", newsgroups, 20),
    "spotify": Shown("Playlists", playlists, 50),
    "imdb100k": Shown("100,000 film reviews", reviews, 100),
}
PICTURES = {
    "demo": (View("demo", "#overview"),),
    "nips12": (View("nips12", "#overview"),),
    "topic": (View("nips12", "#topic-3"),),
    "word": (View("nips12", "#word-speech", "dark"),),
    "time": (View("cve", "#time"),),
    "topic-time": (View("cve", "#topic-11", "dark"),),
    "groups": (View("20ng", "#groups"),),
    "hierarchy": (View("20ng", "#hierarchy"),),
    "phone": (View("cve", "#time"), View("20ng", "#groups"), View("20ng", "#hierarchy"), View("20ng", "#overview")),
    "spotify": (View("spotify", "#overview"),),
    "imdb100k": (View("imdb100k", "#overview", "dark"),),
    "space": (View("imdb100k", "#space", "dark"),),
}
# Pictures that begin at an element below the top of the page.
SCROLLED = {"topic-time": ".topic-time"}


def model_of(name: str, shown: Shown, corpus: aw.Corpus, models: Path) -> Any:
    if (models / name).is_dir():
        return aw.load_model(models / name)
    if shown.from_text:
        # Some 7,600 of the descriptions are in German.
        vectorizer = aw.TextVectorizer(stop_words=["english", "german"])
        model = aw.TextTopicModel(shown.n_topics, vectorizer=vectorizer).fit(corpus)
    else:
        model = aw.AnchorTopicModel.from_preset("readers", shown.n_topics, random_state=0).fit(corpus)
    if shown.n_replicates:
        model.measure_stability(corpus, n_replicates=shown.n_replicates)
    model.save(models / name)
    return model


def screen(browser: Browser, page: Path, view: View, size: dict[str, int], scroll_to: str | None = None) -> Image.Image:
    """A screenshot of a view; for a phone, of a window that is as narrow as one."""
    context = browser.new_context(viewport=size, color_scheme=view.colours, offline=True)  # type: ignore[arg-type]
    tab = context.new_page()
    tab.goto(page.as_uri() + view.address)
    tab.wait_for_timeout(500)
    if scroll_to is not None:
        # Below the head of the page, which stays in sight.
        script = "node => scrollBy(0, node.getBoundingClientRect().top - 70)"
        tab.locator(scroll_to).evaluate(script)
        tab.wait_for_timeout(200)
    shot = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    context.close()
    return shot


def in_a_row(screens: list[Image.Image]) -> Image.Image:
    """Screens of the same size next to each other."""
    width, height = screens[0].size
    picture = Image.new("RGB", (len(screens) * (width + MARGIN) + MARGIN, height + 2 * MARGIN), BACKGROUND)
    for place, one in enumerate(screens):
        picture.paste(one, (MARGIN + place * (width + MARGIN), MARGIN))
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data", help="folder of corpora")
    parser.add_argument("--models", type=Path, help="folder to keep models in")
    parser.add_argument("--only", nargs="+", choices=PICTURES, metavar="NAME", help=f"draw only: {', '.join(PICTURES)}")
    chosen = parser.parse_args()
    pictures = {name: views for name, views in PICTURES.items() if chosen.only is None or name in chosen.only}
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        pages: dict[str, Path] = {}
        for name in dict.fromkeys(view.page for views in pictures.values() for view in views):
            shown = PAGES[name]
            corpus, options = shown.read(chosen.data)
            model = model_of(name, shown, corpus, chosen.models or Path(scratch))
            pages[name] = aw.explorer(model, Path(scratch) / f"{name}.html", corpus, title=shown.title, **options)
            print(name, f"{pages[name].stat().st_size / 1e6:.2f} MB", flush=True)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, views in pictures.items():
            size = DESKTOP if len(views) == 1 else PHONE
            screens = [screen(browser, pages[view.page], view, size, SCROLLED.get(name)) for view in views]
            file = HERE / "images" / f"explorer-{name}.png"
            picture = screens[0] if len(screens) == 1 else in_a_row(screens)
            picture.quantize(160).save(file, optimize=True)
            print(file.name, f"{file.stat().st_size / 1000:.0f} kB", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
