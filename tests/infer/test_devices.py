"""Topic proportions on a device: the kernel for GPUs against numba's, and whoever passes the device on."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.export import write_compositions
from anchorwords.infer import penalised
from anchorwords.infer.penalised import ScaledTopics, penalised_compositions
from anchorwords.infer.prior import Prior, prior_from
from anchorwords.interpret.compositions import document_compositions
from anchorwords.kernels import numba_kernels
from anchorwords.kernels.protocol import PROPORTIONS_GAP
from anchorwords.linalg.sparse import csr_parts
from anchorwords.sources.convert import as_source

torch = pytest.importorskip("torch")

N = 260


def on_gpu():
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")
    return "cuda"


def interpreted():
    pytest.importorskip("triton")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("needs TRITON_INTERPRET=1 in the environment")
    return "cpu"


@pytest.fixture(
    params=[pytest.param(on_gpu, id="gpu", marks=pytest.mark.cuda), pytest.param(interpreted, id="interpreted")]
)
def device(request):
    return request.param()


def topics(rng, K):
    """Word-topic probabilities with words that no topic has."""
    B = rng.gamma(0.1, size=(N, K)) / np.arange(1, N + 1)[:, None] + 1e-12
    B = 0.8 * B / B.sum(axis=0) + 0.2 / N
    B[[3, 50]] = 0.0
    return B / B.sum(axis=0)


def documents(rng, B, M):
    """Documents of all kinds, and M that are sampled."""
    W = rng.dirichlet(np.full(B.shape[1], 0.1), M)
    sampled = [rng.multinomial(rng.integers(1, 300), w @ B.T / (w @ B.T).sum()) for w in W]
    odd = np.zeros((9, N))
    odd[1, 7] = 1.0
    odd[2, 3] = 4.0  # an unknown word
    odd[3, 9] = 1e6
    odd[4] = sampled[0] * 1e6
    odd[5] = sampled[1] * 0.01
    odd[6] = sampled[2]
    odd[6, [3, 50]] = 5.0
    odd[7] = rng.integers(0, 9, N)
    odd[8, [10, 20, 200]] = [1e-3, 1.0, 1e4]
    return sp.csr_array(np.vstack([odd, *sampled]))


def compose(X, B, prior, device):
    """What numba finds, and what the kernel for GPUs finds."""
    from anchorwords.kernels.gpu.operations import GpuKernels

    places, chance, rows = ScaledTopics(B).of(np.arange(N, dtype=np.int32))
    assert places.size == N
    kernels = GpuKernels(torch.device(device))
    tensors = [torch.from_numpy(array).to(device) for array in (rows, chance, *prior)]
    found = kernels.compose(csr_parts(X), *tensors[:2], tuple(tensors[2:]))
    assert all(part.device.type == device and part.dtype == torch.float64 for part in found)
    return numba_kernels.compose(csr_parts(X), rows, chance, tuple(prior)), [part.cpu().numpy() for part in found]


def assert_same(expected, found, atol):
    weights, likelihood, n_known, gap = found
    np.testing.assert_allclose(n_known, expected.n_known, rtol=1e-14)
    # The certificate leaves something open, the more the weaker the prior is, but in few documents.
    np.testing.assert_allclose(weights, expected.weights, atol=atol)
    assert np.median(np.abs(weights - expected.weights).max(axis=1)) <= 1e-6
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(likelihood, expected.log_likelihood, rtol=atol / 5.0, atol=1e-12)
    assert gap.max() <= PROPORTIONS_GAP


PRIORS = {
    "penalties": prior_from,
    "no penalties": lambda b: Prior(b, np.zeros(b.size), b),
    "weak": lambda b: Prior(1e-5 * b, np.zeros(b.size), 1e-5 * b),
    "weak, penalties": lambda b: Prior(1e-5 * b, np.ones(b.size), b),
}


@pytest.mark.parametrize("K", [1, 5, 16, 33])
@pytest.mark.parametrize("prior", PRIORS)
def test_the_kernel_for_gpus_agrees_with_numba(device, K, prior):
    rng = np.random.default_rng(K)
    B = topics(rng, K)
    X = documents(rng, B, 4 if device == "cpu" else 500)
    atol = 5e-4 if "weak" in prior else 5e-5
    assert_same(*compose(X, B, PRIORS[prior](rng.gamma(2.0, size=K) * 0.05), device), atol)


@pytest.mark.cuda
@pytest.mark.parametrize("K", [100, 101, 200, 300, 700])
def test_many_documents_and_topics(K):
    device, rng = on_gpu(), np.random.default_rng(K)
    B = topics(rng, K)
    X, prior = documents(rng, B, 3000), prior_from(rng.gamma(2.0, size=K) * 0.03)
    expected, found = compose(X, B, prior, device)
    assert_same(expected, found, 5e-5)
    for part, again in zip(found, compose(X, B, prior, device)[1], strict=True):
        np.testing.assert_array_equal(part, again)


def test_a_document_does_not_depend_on_its_block(device, monkeypatch):
    from anchorwords.kernels.gpu import memory, proportions

    rng = np.random.default_rng(0)
    B = topics(rng, 5)
    X, prior = documents(rng, B, 3), prior_from(np.full(5, 0.2))
    whole = compose(X, B, prior, device)[1]
    monkeypatch.setattr(memory, "_LARGEST", 2 * 100 * proportions._ENTRY_BYTES)
    assert len(proportions._blocks(csr_parts(X)[0])) > 3
    for part, others in zip(whole, compose(X, B, prior, device)[1], strict=True):
        np.testing.assert_array_equal(part, others)


def test_what_the_kernel_does_not_solve_is_left_to_numba(device, monkeypatch):
    from anchorwords.kernels.gpu import proportions

    rng = np.random.default_rng(0)
    B = topics(rng, 4)
    X, prior = documents(rng, B, 3), prior_from(np.full(4, 0.2))
    dense = X.toarray()
    dense[9, 5] = np.inf
    X = sp.csr_array(dense)
    with np.errstate(all="ignore"):
        expected, found = compose(X, B, prior, device)
    assert found[3][9] == expected.gap[9] == np.inf
    np.testing.assert_array_equal(found[0][9], expected.weights[9])
    assert np.delete(found[3], 9).max() <= PROPORTIONS_GAP
    monkeypatch.setattr(proportions, "_MOST_TOPICS", 3)
    expected, found = compose(X, B, prior, device)
    for part, same in zip(expected, found, strict=True):
        np.testing.assert_array_equal(part, same)


@pytest.mark.parametrize("few", [False, True])
def test_a_tensor_on_the_processor_changes_nothing(monkeypatch, few):
    monkeypatch.setattr(penalised, "_ON_DEVICE", 4 * 3)
    rng = np.random.default_rng(0)
    B = topics(rng, 4)
    X, prior = documents(rng, B, 6), prior_from(np.full(4, 0.2))
    X = X[:3] if few else X  # fewer entries than words
    expected = penalised_compositions(X, B, prior)
    for part, same in zip(expected, penalised_compositions(X, B, prior, like=torch.zeros(1)), strict=True):
        assert isinstance(same, np.ndarray)
        np.testing.assert_array_equal(part, same)


@pytest.fixture(scope="module")
def fitted():
    data = make_topics(n_docs=300, n_words=150, n_topics=3, doc_length=40, random_state=0)
    return aw.AnchorTopicModel(3, random_state=0).fit(data.corpus), data.corpus


def write(model, corpus, folder):
    write_compositions(model, corpus, folder / "topics.npy")
    return np.load(folder / "topics.npy")


USES = {
    "transform": lambda model, corpus, _: model.transform(corpus),
    "transform_blocks": lambda model, corpus, _: np.concatenate(list(model.transform_blocks(corpus))),
    "score": lambda model, corpus, _: model.score(corpus),
    "perplexity": lambda model, corpus, _: model.perplexity(corpus),
    "write_compositions": write,
    "document_compositions": lambda model, corpus, _: np.concatenate(
        [weights for weights, _ in document_compositions(model, as_source(corpus))]
    ),
    "top_documents": lambda model, corpus, _: [row["share"] for row in aw.top_documents(model, corpus, 2).rows()],
    "flag_topics": lambda model, corpus, _: [flag.value for flag in aw.flag_topics(model, corpus)],
    "prevalence_by": lambda model, corpus, _: [
        row["prevalence"] for row in aw.prevalence_by(model, corpus, [1, 2, 3] * 100).rows()
    ],
    "topics_over_time": lambda model, corpus, _: [
        row["prevalence"] for row in aw.topics_over_time(model, corpus, np.arange(300) % 7).rows()
    ],
    "predict_words": lambda model, corpus, _: [
        row["probability"] for row in aw.predict_words(model, corpus, 3, method="posterior-mean").rows()
    ],
    "split_topic": lambda model, corpus, _: aw.split_topic(model, model.model_.ids[0], corpus).model_.A,
}


@pytest.mark.parametrize("use", USES)
def test_the_device_of_an_estimator_is_used(fitted, tmp_path, monkeypatch, use):
    model, corpus = fitted
    expected = USES[use](model, corpus, tmp_path)
    prototype, seen = torch.zeros(1), []

    def kernels_like(array):
        assert array is prototype
        seen.append(array)
        return plain(array)

    from anchorwords.kernels import torch_kernels

    plain = torch_kernels.kernels_like
    monkeypatch.setattr(torch_kernels, "kernels_like", kernels_like)
    monkeypatch.setattr(type(model), "_prototype", lambda _: prototype)
    np.testing.assert_array_equal(USES[use](model, corpus, tmp_path), expected)
    assert seen


def test_documents_in_a_tensor_are_composed_on_its_device(fitted, monkeypatch):
    from anchorwords.kernels import torch_kernels

    model, corpus = fitted
    X = corpus.counts.toarray()
    expected, plain, seen = model.transform(X), torch_kernels.kernels_like, []
    monkeypatch.setattr(torch_kernels, "kernels_like", lambda array: (seen.append(array), plain(array))[1])
    found = model.transform(torch.from_numpy(X))
    assert seen
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, expected)
