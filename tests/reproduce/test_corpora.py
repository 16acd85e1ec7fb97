"""Finding, reading and naming corpora."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.corpus.stopwords import stop_words
from anchorwords.exceptions import InputError
from anchorwords.reproduce.corpora import find_sources, fingerprint, load
from tests.reproduce.helpers import write_uci


@pytest.fixture
def corpus(sampled):
    return sampled.corpus


def names(sources):
    return [source.name for source in sources]


def test_files_in_the_folder_and_in_folders_of_it(tmp_path, corpus):
    write_uci(tmp_path, "here", corpus)
    write_uci(tmp_path / "deep", "there", corpus)
    write_uci(tmp_path / "deep" / "deeper", "lost", corpus)
    sources = find_sources(tmp_path, None)
    assert sorted(names(sources)) == ["here", "there"]
    for source in sources:
        assert source.docword.is_file()
        assert source.vocabulary == source.docword.parent / f"vocab.{source.name}.txt"


def test_compressed_files_are_found(tmp_path, corpus):
    import gzip

    file = write_uci(tmp_path, "packed", corpus)
    file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    (source,) = find_sources(tmp_path, None)
    assert source.name == "packed"
    assert load(source)[0].n_words == corpus.prune().n_words


def test_without_a_vocabulary_a_file_is_no_corpus(tmp_path, corpus):
    write_uci(tmp_path, "whole", corpus)
    write_uci(tmp_path, "half", corpus)
    (tmp_path / "vocab.half.txt").unlink()
    assert names(find_sources(tmp_path, None)) == ["whole"]


def test_the_stand_ins_come_first_and_names_choose(tmp_path, corpus):
    for name in ("other", "ml1m", "nips12"):
        write_uci(tmp_path, name, corpus)
    assert names(find_sources(tmp_path, None)) == ["nips12", "ml1m"]
    assert names(find_sources(tmp_path, ["other", "ml1m"])) == ["other", "ml1m"]


def test_what_is_not_there_gets_a_sentence(tmp_path, corpus):
    write_uci(tmp_path / "data", "here", corpus)
    (tmp_path / "empty").mkdir()
    for data, chosen, said in (
        (tmp_path / "nowhere", None, "is not a folder"),
        (tmp_path / "data" / "here" / "docword.here.txt", None, "is not a folder"),
        (tmp_path / "empty", None, "holds no UCI corpus"),
        (tmp_path / "data", ["kos"], "holds no corpus 'kos': it holds here"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            find_sources(data, chosen)
        assert "\n" not in str(caught.value)


def with_words(words, n_docs=50):
    """Every document holds every word twice."""
    return aw.Corpus(np.full((n_docs, len(words)), 2), words)


def test_stop_words_go_from_text_only(tmp_path):
    common = sorted(stop_words("english"))
    content = [f"content{i}" for i in range(20)]
    n_half = -(-len(common) // 2)
    for name, words, is_text in (
        ("text", common + content, True),
        ("half", common[:n_half] + content, True),
        ("films", common[: n_half - 1] + content, False),  # some films are called as a function word
        ("clean", content, False),
    ):
        write_uci(tmp_path, name, with_words(words))
        (source,) = find_sources(tmp_path, [name])
        corpus, taken_out = load(source)
        assert taken_out is is_text, name
        assert list(corpus.vocabulary) == (content if is_text else words)


def test_the_papers_curation_of_documents(tmp_path):
    counts = np.array([[2, 2, 2], [4, 1, 0], [1, 1, 2], [2, 2, 1]])  # three distinct words and five tokens stay
    write_uci(tmp_path, "short", aw.Corpus(counts, ["x", "y", "z"]))
    corpus, _ = load(find_sources(tmp_path, None)[0])
    np.testing.assert_array_equal(corpus.counts.toarray(), counts[[0, 3]])


def test_the_fingerprint_is_of_counts_words_and_order(corpus):
    name = fingerprint(corpus)
    counts, words = sp.lil_array(corpus.counts), list(corpus.vocabulary)
    assert fingerprint(aw.Corpus(corpus.counts.copy(), words)) == name
    one_more = counts.copy()
    row, column = (int(part[0]) for part in corpus.counts.nonzero())
    one_more[row, column] += 1
    moved = sp.csr_array(corpus.counts)[np.r_[1, 0, 2 : corpus.n_docs]]
    swapped = sp.csr_array(corpus.counts)[:, np.r_[1, 0, 2 : corpus.n_words]]
    others = [
        fingerprint(aw.Corpus(sp.csr_array(one_more), words)),
        fingerprint(aw.Corpus(counts, ["other", *words[1:]])),
        fingerprint(aw.Corpus(counts, [words[1], words[0], *words[2:]])),
        fingerprint(aw.Corpus(moved, words)),
        fingerprint(aw.Corpus(swapped, words)),
        fingerprint(aw.Corpus(counts[:-1], words)),
    ]
    assert len({name, *others}) == 7
