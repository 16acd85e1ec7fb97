"""Real corpora: what everybody knows of them must show."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import anchorwords as aw
from anchorwords import plot

pytestmark = [pytest.mark.data, pytest.mark.slow]


@pytest.fixture(scope="module")
def vulnerabilities(data_folder):
    """Every fourth description of cve by year, with the topics of the preset for readers."""
    with gzip.open(data_folder / "cve" / "cve.tsv.gz", "rt", encoding="utf-8") as stream:
        lines = [line.rstrip("\n").split("\t", 1) for line in stream][::4]
    rows = [{"text": text, "year": int(name.split("-")[1])} for name, text in lines]
    corpus = aw.read_corpus(rows, text_column="text", columns="year")
    model = aw.TextTopicModel(30).fit(corpus)
    return model, aw.topics_over_time(model, corpus, "year")


def topic_of(model, word):
    """The topic that a word is most probable in, and in which it is among the first."""
    found = [k for k, words in enumerate(aw.top_words(model, 10, ranking="relevance")) if word in words]
    k = max(found, key=lambda k: model.model_.B[model.model_.vocabulary.index(word), k])
    return model.model_.ids[k]


def test_new_technology_rises_and_old_technology_falls(vulnerabilities):
    model, found = vulnerabilities
    verdicts = {row["topic"]: row["verdict"] for row in found.trends().rows()}
    # WordPress exists since 2003 and Android since 2008; macOS has its name since 2016.
    for word, year in (("wordpress", 2003), ("android", 2008), ("macos", 2016)):
        topic = topic_of(model, word)
        assert verdicts[topic] == "rising", word
        course = found.prevalence[:, found.topics.index(topic)]
        before = np.array(found.periods) < year
        assert np.average(course[before], weights=found.n_docs[before]) < np.nanmax(course) / 3, word
    # The last service pack of Windows is of 2011. Long strings that overflow buffers do not do: routers have them again.
    assert verdicts[topic_of(model, "sp2")] == "falling"


def test_words_change_with_the_products(vulnerabilities):
    model, found = vulnerabilities
    windows = found.words(topic_of(model, "microsoft"), 30)
    # Vista and XP have had no support since 2017 and 2014; Edge exists since 2015.
    assert {"xp", "vista"} <= {row["word"] for row in windows.falling}
    assert "edge" in {row["word"] for row in windows.rising}


def test_not_every_topic_has_a_trend(vulnerabilities):
    model, found = vulnerabilities
    clear = {errors: sum(row["verdict"] != "no clear trend" for row in found.trends(errors=errors).rows())
             for errors in ("periods", "documents")}  # fmt: skip
    # 42,000 documents that count as independent say of nearly every topic that it rises or falls; 28 years do not.
    assert clear["documents"] >= 27
    assert 5 <= clear["periods"] <= 24
    # The years differ by more than their documents do by chance, and leave few degrees of freedom.
    assert found.by_periods.ratio > 0.01
    assert found.by_periods.freedom < 26
    # A topic that comes and goes has no trend: certificates of Android applications were examined in 2014.
    course = found.prevalence[:, found.topics.index(topic_of(model, "certificate"))]
    assert found.periods[int(np.nanargmax(course))] == 2014
    verdicts = {row["topic"]: row["verdict"] for row in found.trends().rows()}
    assert verdicts[topic_of(model, "certificate")] == "no clear trend"


@pytest.fixture(scope="module")
def newsgroups(data_folder):
    lines = (data_folder / "20ng" / "labels.20ng.tsv").read_text().splitlines()
    corpus = aw.read_corpus(data_folder / "20ng", table={"group": [line.split("\t")[1] for line in lines]})
    model = aw.AnchorTopicModel.from_preset("readers", 20).fit(corpus.prune(n_words=10_000, stop_words="english"))
    return model, aw.prevalence_by(model, corpus, "group")


def test_newsgroups_have_their_topics(newsgroups):
    model, found = newsgroups
    words = aw.top_words(model, 12, ranking="relevance")
    for group, expected in {
        "rec.sport.hockey": {"hockey", "nhl", "team", "game"}, "sci.crypt": {"encryption", "key", "clipper", "chip"},
        "soc.religion.christian": {"god", "jesus", "church", "christ"}, "talk.politics.mideast": {"israel", "armenian"},
        "comp.windows.x": {"window", "motif", "server", "widget"}, "rec.autos": {"car", "cars", "engine"},
    }.items():  # fmt: skip
        k = int(np.argmax(found.prevalence[found.groups.index(group)]))
        assert expected & set(words[k]), (group, words[k])


def test_related_newsgroups_are_neighbours_in_the_figure(newsgroups):
    _, found = newsgroups
    (ax,) = [ax for ax in plot.groups(found).axes if ax.get_label() != "<colorbar>"]
    order = [label.get_text() for label in ax.get_yticklabels()]
    places = {name: place for place, name in enumerate(order)}
    assert abs(places["rec.sport.hockey"] - places["rec.sport.baseball"]) == 1
    religion = sorted(places[name] for name in ("alt.atheism", "talk.religion.misc", "soc.religion.christian"))
    assert religion[-1] - religion[0] == 2
