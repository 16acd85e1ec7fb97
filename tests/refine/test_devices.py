"""Refinement with tensors: on the processor by numba, by the kernels for GPUs in Triton's interpreter, and on a GPU."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp

from anchorwords._namespace import array_namespace, to_numpy
from anchorwords._validation import check_counts
from anchorwords.datasets import make_topics
from anchorwords.refine import refinement, soundness, sweep
from anchorwords.refine.guided import Guided
from anchorwords.refine.least_squares import DampedCounts
from anchorwords.refine.options import Refinement
from anchorwords.refine.soundness import top_rows, words_together
from anchorwords.refine.sweep import PerDocument, Pieces, as_documents
from anchorwords.sources.convert import as_source
from anchorwords.sources.kinds import HeldCounts
from anchorwords.statistics.of_source import documents_with_pairs
from tests.fits import Blocks, fit_topics, refine_topics

torch = pytest.importorskip("torch")

# Small, since the interpreter takes 10 ms for each document and word of a sweep.
N_DOCS, N_WORDS, K = 40, 36, 3
NEUTRAL = np.arange(N_WORDS) % 17 == 3
SEEDS = Guided(((4, 11), (30,)), 0.3, NEUTRAL)
OPTIONS = {
    "plain": Refinement(n_sweeps=2),
    "split": Refinement(n_sweeps=2, split_sweeps=1, decorrelation=2.0),
    "squares": Refinement(n_sweeps=2, least_squares=2),
    "readers": Refinement(n_sweeps=2, decorrelation=2.0, least_squares=2, background=0.1),
}
EACH = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
# Sums in another order differ by 1e-16, relative, and sweeps far from rest may double a difference each time.
SAME = 1e-8


@pytest.fixture(scope="module")
def counts():
    corpus = make_topics(n_docs=N_DOCS, n_words=N_WORDS, n_topics=K, doc_length=40, n_anchors=2, random_state=7).corpus
    rows = check_counts(corpus.counts).tolil()
    rows[[3, N_DOCS - 1]] = 0.0
    return check_counts(sp.csr_array(rows))


@pytest.fixture(scope="module")
def spectral(counts):
    return fit_topics(counts, K).model


def on_host(monkeypatch):
    return torch.zeros(0)


def interpreted(monkeypatch):
    pytest.importorskip("triton")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("needs TRITON_INTERPRET=1 in the environment")
    from anchorwords.kernels import torch_kernels
    from anchorwords.kernels.gpu.operations import GpuKernels

    monkeypatch.setattr(torch_kernels, "kernels_like", lambda prototype: GpuKernels(prototype.device))
    return torch.zeros(0)


def on_gpu(monkeypatch):
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")
    return torch.zeros(0, device="cuda")


DEVICES = {"host": on_host, "interpreted": interpreted, "gpu": on_gpu}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.cuda if name == "gpu" else ()) for name in DEVICES])
def device(request, monkeypatch):
    """A tensor on each kind of device."""
    return DEVICES[request.param](monkeypatch)


def assert_same(found, expected):
    np.testing.assert_array_equal(found.anchors, expected.anchors)
    for name in ("B", "A", "word_topics", "word_probs", "log_likelihood"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-6, atol=SAME, err_msg=name)
        assert isinstance(getattr(found, name), np.ndarray | tuple)
    assert (found.keyword_weights is None) == (expected.keyword_weights is None)
    if expected.keyword_weights is not None:
        assert found.keyword_weights.dtype == np.float32
        np.testing.assert_allclose(found.keyword_weights, expected.keyword_weights, atol=1e-6)
    if expected.parts is not None:
        np.testing.assert_allclose(found.parts.B, expected.parts.B, atol=SAME)
        np.testing.assert_allclose(found.parts.A, expected.parts.A, atol=SAME)
    assert [(flag.kind, flag.topics) for flag in found.flags or ()] == [
        (flag.kind, flag.topics) for flag in expected.flags or ()
    ]


@EACH
def test_a_device_finds_the_topics_of_numpy(device, counts, spectral, options):
    assert_same(refine_topics(spectral, counts, options, like=device), refine_topics(spectral, counts, options))


@EACH
def test_guidance_on_a_device(device, counts, spectral, options):
    found, expected = (
        refine_topics(spectral, counts, options, guided=SEEDS, like=like, candidates=~NEUTRAL)
        for like in (device, None)
    )
    assert_same(found, expected)
    np.testing.assert_allclose(
        np.ptp(found.parts.B[NEUTRAL] if found.parts else found.B[NEUTRAL], axis=1), 0, atol=1e-9
    )


@EACH
def test_weights_on_a_device(counts, spectral, options):
    often = np.random.default_rng(0).integers(0, 3, counts.shape[0]).astype(float)
    found, expected = (
        refine_topics(spectral, counts, options, weights=often, like=like) for like in (torch.zeros(0), None)
    )
    assert_same(found, expected)


@EACH
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("place", [on_host, pytest.param(on_gpu, marks=pytest.mark.cuda)])
def test_pieces_and_memory_of_a_device_do_not_matter(monkeypatch, counts, spectral, options, streamed, place):
    """Documents that are not held, pieces of several sizes, and parts on the device, on the host and in files."""
    expected, prototype = refine_topics(spectral, counts, options), place(monkeypatch)
    monkeypatch.setattr(sweep, "_DEVICE_WEIGHTS", 2 * K * 12)
    monkeypatch.setattr(sweep, "_DEVICE_COUNTS", 200)
    monkeypatch.setattr(sweep, "_DEVICE_HELD", 0)
    monkeypatch.setattr(sweep, "_DEVICE_MEMORY", 60)
    monkeypatch.setattr(sweep, "_IN_MEMORY", 60)
    monkeypatch.setattr(sweep, "_JOINED", 150)
    monkeypatch.setattr(soundness, "_TABLE", 1)
    data = [counts[:20], counts[20:21], counts[21:]] if streamed else counts
    assert_same(refine_topics(spectral, data, options, like=prototype), expected)


def test_the_same_input_gives_the_same_bits(device, counts, spectral):
    found = [refine_topics(spectral, counts, OPTIONS["plain"], like=device) for _ in range(2)]
    for name in ("B", "A", "word_topics"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))


def test_documents_on_disk_are_read_once_if_a_device_can_hold_them(monkeypatch, counts, spectral):
    """Blocks that are read become few pieces: a GPU is idle with small ones."""
    passes = []

    def blocks():
        passes.append(1)
        return iter([counts[:20], counts[20:21], counts[21:]])

    expected = refine_topics(spectral, counts, OPTIONS["readers"])
    passes.clear()
    assert_same(refine_topics(spectral, blocks, OPTIONS["readers"], like=torch.zeros(0)), expected)
    assert len(passes) == 2  # one by the helper of these tests
    assert len(list(Pieces(Blocks(blocks), K, None, torch.zeros(0)))) == 1
    monkeypatch.setattr(sweep, "_JOINED", 1)
    assert [piece.n_docs for piece in Pieces(Blocks(blocks), K, None, torch.zeros(0))] == [20, 1, N_DOCS - 21]


def test_other_libraries_are_no_prototypes(counts, spectral):
    strict = pytest.importorskip("array_api_strict")
    found, expected = (
        refine_topics(spectral, counts, OPTIONS["readers"], like=like) for like in (strict.zeros(0), None)
    )
    np.testing.assert_array_equal(found.B, expected.B)


def test_a_fit_refines_where_its_source_is(counts, monkeypatch):
    seen = []
    whole = refinement.refine_topics
    monkeypatch.setattr(
        "anchorwords.fitting.refine_topics", lambda *given, **options: seen.append(options) or whole(*given, **options)
    )
    from anchorwords.fitting import FitOptions, fit_documents

    prototype = torch.zeros(0)
    found, expected = (
        fit_documents(HeldCounts(counts, like=like), FitOptions(K, refinement=OPTIONS["readers"]))
        for like in (prototype, None)
    )
    assert [options["like"] for options in seen] == [prototype, None]
    np.testing.assert_allclose(found.B, expected.B, atol=1e-6)
    blocks = Blocks([counts])
    blocks.like = prototype
    assert (
        documents_with_pairs(blocks).like is documents_with_pairs(HeldCounts(counts, like=prototype)).like is prototype
    )


# ---- What it is made of


def some_documents(rng, weighted):
    X = rng.integers(1, 4, (40, 25)) * (rng.random((40, 25)) < 0.2)
    X[[2, 39]] = 0
    return sp.csr_array(X.astype(float)), rng.random(40) if weighted else None


@pytest.mark.parametrize("weighted", [False, True])
def test_documents_say_the_same_everywhere(device, weighted):
    rng = np.random.default_rng(0)
    counts, weights = some_documents(rng, weighted)
    here, there = as_documents(counts, weights), as_documents(counts, weights, device)
    for one, other in zip((*here.by_row, *here.by_word), (*there.by_row, *there.by_word), strict=True):
        assert array_namespace(other) is array_namespace(device)
        np.testing.assert_array_equal(to_numpy(other, dtype=None), one)
        assert to_numpy(other, dtype=None).dtype == one.dtype
    assert here.n_docs == there.n_docs == 40
    words = rng.random(25) < 0.1
    assert there.number_with(words) == pytest.approx(here.number_with(words), rel=1e-14)
    assert there.number_with() == pytest.approx(here.number_with(), rel=1e-14)
    for name in ("lengths", "weighted", "frequencies"):
        np.testing.assert_allclose(to_numpy(getattr(there, name)), getattr(here, name), rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_damped_counts_say_the_same_everywhere(device, weighted):
    counts, weights = some_documents(np.random.default_rng(1), weighted)
    known, neutral = np.arange(25) != 3, np.arange(25) == 5
    here, there = (
        DampedCounts(Pieces(as_source(counts), 4, weights, prototype), known, neutral) for prototype in (None, device)
    )
    np.testing.assert_allclose(there.informative, here.informative, rtol=1e-14)
    for one, other in zip(here, there, strict=True):
        for parts, others in zip(one[1:], other[1:], strict=True):
            for part, of_device in zip(parts, others, strict=True):
                np.testing.assert_allclose(to_numpy(of_device), part, rtol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", [1, 1 << 26])
def test_words_are_together_as_often_everywhere(device, monkeypatch, weighted, table):
    monkeypatch.setattr(soundness, "_TABLE", table)
    rng = np.random.default_rng(2)
    counts, weights = some_documents(rng, weighted)
    tops = [rng.permutation(25)[:n] for n in (12, 3, 0, 1, 20)]
    here, there = (
        words_together(Pieces(as_source(counts), 4, weights, prototype), tops, 25) for prototype in (None, device)
    )
    assert there.n_docs == pytest.approx(here.n_docs, rel=1e-14)
    for name in ("counts", "held"):
        for one, other in zip(getattr(here, name), getattr(there, name), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [1, 4, 30, 100])
def test_top_rows_are_the_same_everywhere(device, monkeypatch, n):
    monkeypatch.setattr(soundness, "_COLUMNS", 3)
    rng = np.random.default_rng(3)
    columns = rng.integers(0, 9, (30, 7)) * (rng.random((30, 7)) < 0.7) / 8.0  # ties, and zeros
    columns[:, 2] = 0.0
    tensor = torch.from_numpy(columns).to(device.device)
    for one, other in zip(top_rows(columns, n), top_rows(tensor, n), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_kept_on_the_host_comes_back(device, monkeypatch, tmp_path):
    monkeypatch.setattr(sweep, "_DEVICE_MEMORY", 12)
    monkeypatch.setattr(sweep, "_IN_MEMORY", 12)
    held = PerDocument(tmp_path)
    parts = [torch.arange(12.0, dtype=torch.float64).reshape(4, 3).to(device.device) + 100 * i for i in range(3)]
    for part in parts:
        held.append(part.clone())
    assert len(list(tmp_path.iterdir())) == 1  # one on the device, one in memory, one in a file
    for number, part in enumerate(parts):
        own = held[number]
        assert own.device == device.device
        own *= 2.0
        held.put_back(number, own)
        np.testing.assert_array_equal(to_numpy(held[number]), 2.0 * to_numpy(part))


@pytest.mark.data
def test_real_documents_on_a_device(real_corpus):
    counts = check_counts(real_corpus("kos", 1000).counts)
    model = fit_topics(counts, 20).model
    options = Refinement(n_sweeps=4, decorrelation=2.0, least_squares=3, background=0.1)
    found, expected = (refine_topics(model, counts, options, like=like) for like in (torch.zeros(0), None))
    np.testing.assert_allclose(found.B, expected.B, atol=1e-6)
    np.testing.assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-8)
