"""Draw the README's picture: what `anchorwords demo` prints, as an SVG without any outside address.

python docs/make_demo_image.py
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from anchorwords import TextTopicModel, TextVectorizer, topic_table
from anchorwords.cli.tables import topics_as_table
from anchorwords.datasets import DOCSTRING_STOP_WORDS, docstring_texts

vectorizer = TextVectorizer(stop_words=list(DOCSTRING_STOP_WORDS))
model = TextTopicModel(20, vectorizer=vectorizer).fit(list(docstring_texts().values()))
corpus = model.corpus_
console = Console(record=True, width=130, file=io.StringIO(), force_terminal=True)
console.print(f"{corpus.n_docs:,} docstrings, {corpus.n_words:,} words, 20 topics\n", highlight=False)
console.print(topics_as_table(topic_table(model, 7)[:14], "keywords"))
svg = console.export_svg(title="anchorwords demo")
# Rich names web fonts; the picture must not ask any address for anything.
svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code, monospace", "monospace")
svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
target = Path(__file__).parent / "images" / "demo.svg"
target.parent.mkdir(exist_ok=True)
target.write_text(svg, encoding="utf-8")
