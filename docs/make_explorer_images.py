"""Draw the pictures of the explorer: real pages of real corpora in headless Chromium (pip install '.[browser]').

python docs/make_explorer_images.py [--data FOLDER] [--models FOLDER]

Models are fitted, or read from the folder of models where they lie from the last time.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import anchorwords as aw
from anchorwords.datasets import DOCSTRING_STOP_WORDS, docstring_texts

HERE = Path(__file__).resolve().parent
SIZE = {"width": 1360, "height": 850}


class Shown(NamedTuple):
    """A corpus, how it is fitted, and what is looked at: file, address within the page, colours."""

    title: str
    n_words: int | None
    n_topics: int
    n_replicates: int
    pictures: tuple[tuple[str, str, str], ...]


PAGES = {
    "demo": Shown("Docstrings of scientific Python", None, 20, 20, (("demo", "#overview", "light"),)),
    "nips12": Shown(
        "NIPS papers, 1987 to 1999",
        5000,
        20,
        20,
        (("nips12", "#overview", "light"), ("topic", "#topic-3", "light"), ("word", "#word-speech", "dark")),
    ),
    "imdb100k": Shown(
        "100,000 film reviews", None, 100, 0, (("imdb100k", "#overview", "dark"), ("space", "#space", "dark"))
    ),
    "spotify": Shown("Playlists", 20000, 50, 0, (("spotify", "#overview", "light"),)),
}


def corpus_of(name: str, shown: Shown, data: Path) -> aw.Corpus:
    if name == "demo":
        texts = [{"name": name, "text": text} for name, text in docstring_texts().items()]
        vectorizer = aw.TextVectorizer(stop_words=list(DOCSTRING_STOP_WORDS))
        return vectorizer.fit_corpus(texts, id_column="name")[1]
    stop_words = "english" if name == "imdb100k" else None
    return aw.read_corpus(data / name).prune(n_words=shown.n_words, stop_words=stop_words)


def model_of(name: str, shown: Shown, corpus: aw.Corpus, models: Path) -> aw.AnchorTopicModel:
    if (models / name).is_dir():
        return aw.load_model(models / name)
    model = aw.AnchorTopicModel.from_preset("readers", shown.n_topics, random_state=0).fit(corpus)
    if shown.n_replicates:
        model.measure_stability(corpus, n_replicates=shown.n_replicates)
    model.save(models / name)
    return model


def draw(browser: Browser, page: Path, file: Path, address: str, colours: str) -> None:
    context = browser.new_context(viewport=SIZE, color_scheme=colours, offline=True)  # type: ignore[arg-type]
    tab = context.new_page()
    tab.goto(page.as_uri() + address)
    tab.wait_for_timeout(500)
    picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    picture.quantize(160).save(file, optimize=True)
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data", help="folder of corpora")
    parser.add_argument("--models", type=Path, help="folder to keep models in")
    chosen = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        models = chosen.models or Path(scratch)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, shown in PAGES.items():
            corpus = corpus_of(name, shown, chosen.data)
            model = model_of(name, shown, corpus, models)
            page = aw.explorer(model, Path(scratch) / f"{name}.html", corpus, title=shown.title)
            print(name, f"{page.stat().st_size / 1e6:.2f} MB", flush=True)
            for picture, address, colours in shown.pictures:
                draw(browser, page, HERE / "images" / f"explorer-{picture}.png", address, colours)
        browser.close()


if __name__ == "__main__":
    main()
