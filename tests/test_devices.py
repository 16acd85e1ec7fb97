"""Devices: which can be used, what is said of those that cannot, and what a failing GPU leaves behind.

Most of it runs without a GPU: a fake torch stands for machines that lack something, and tensors on the processor for those
on a GPU. What is marked ``cuda`` runs on a GPU.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import anchorwords as aw
from anchorwords import devices
from anchorwords._namespace import is_numpy, namespace_name
from anchorwords.datasets import make_topics
from anchorwords.exceptions import DeviceError, InputError, TooLargeError
from anchorwords.metrics.matching import match_topics

from .cli.test_text import run

TEXTS = [
    " ".join(subject.split()[j % 5 :] * 2)
    for j in range(60)
    for subject in (
        "lion tiger zebra gorilla giraffe",
        "flour butter oven sugar recipe",
        "orbit rocket planet comet lunar",
    )
]


class FakeTorch(ModuleType):
    """As much of torch as is asked before a GPU is used."""

    float64 = "float64"

    def __init__(self, *, cuda="12.8", n_devices=2, current=0, capability=(9, 0), lost=False):
        super().__init__("torch")
        self.__version__ = "2.13.0"
        self.version = SimpleNamespace(cuda=cuda)
        self.cuda = SimpleNamespace(
            is_available=lambda: n_devices > 0, device_count=lambda: n_devices, current_device=lambda: current,
            get_device_capability=lambda _: capability, get_device_name=lambda _: "NVIDIA GeForce GTX 1080",
        )  # fmt: skip
        self._lost = lost

    def zeros(self, size, dtype, device):
        if self._lost:
            raise RuntimeError("CUDA error: all CUDA-capable devices are busy or unavailable\nmore on this")
        return size, dtype, device


@pytest.fixture
def fake(monkeypatch):
    """Function that puts a fake torch in the place of the real one, or None for no torch at all."""

    def install(torch, triton=True):
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.setattr(devices, "find_spec", lambda _: object() if triton else None)

    return install


@pytest.fixture
def tensors(monkeypatch):
    """Tensors on the processor in the place of those on a GPU."""
    torch = pytest.importorskip("torch")

    def prototype(device):
        name = devices.check_device(device)
        return None if name in (None, "cpu") else torch.zeros(0, dtype=torch.float64)

    monkeypatch.setattr("anchorwords.estimator.prototype", prototype)
    monkeypatch.setattr("anchorwords.text_model.prototype", prototype)
    return torch


@pytest.fixture(scope="module")
def data():
    return make_topics(n_docs=1500, n_words=300, n_topics=5, doc_length=60, random_state=2).corpus


# ---- Names, and what a GPU needs.


@pytest.mark.parametrize("device", [None, "cpu"])
def test_the_processor_needs_no_torch(fake, device):
    fake(None)
    assert devices.prototype(device) is None


@pytest.mark.parametrize(
    ("device", "current", "expected"), [("cuda", 0, "cuda:0"), ("cuda", 1, "cuda:1"), ("cuda:1", 0, "cuda:1")]
)
def test_a_prototype_is_empty_and_on_the_device(fake, device, current, expected):
    fake(FakeTorch(current=current))
    assert devices.prototype(device) == (0, "float64", expected)


@pytest.mark.parametrize(
    "device", ["gpu", "cuda:", "cuda:x", "cuda:-1", "cuda: 1", "cuda:٣", "CUDA", "", 0, 1, True, []]
)
def test_a_name_that_is_no_device(data, device):
    expected = r"device must be None, 'cpu', 'cuda' or the number of a GPU such as 'cuda:1', but is"
    with pytest.raises(InputError, match=expected):
        devices.prototype(device)
    with pytest.raises(InputError, match=expected):
        aw.AnchorTopicModel(3, device=device).fit(data)
    with pytest.raises(InputError, match=expected):
        aw.TextTopicModel(3, device=device).fit(TEXTS)


@pytest.mark.parametrize(
    ("torch", "triton", "expected"),
    [
        (None, True, r"device='cuda:3' needs torch: pip install 'anchorwords\[gpu\]', or use device='cpu'\."),
        (FakeTorch(cuda=None), True, r"needs a version of torch that was built with CUDA, but torch 2\.13\.0 was not"),
        (FakeTorch(n_devices=0), True, r"device='cuda:3' needs an NVIDIA GPU and its driver, but torch finds none"),
        (FakeTorch(n_devices=1), True, r"there is no cuda:3: torch finds one GPU, cuda:0\."),
        (FakeTorch(n_devices=3), True, r"there is no cuda:3: torch finds 3 GPUs, cuda:0 to cuda:2\."),
        (FakeTorch(n_devices=4), False, r"device='cuda:3' needs Triton, .*: pip install triton, or use device='cpu'\."),
        (
            FakeTorch(n_devices=4, capability=(6, 1)), True,
            r"NVIDIA GeForce GTX 1080 is too old for Triton: it has compute capability 6\.1, but 7\.0 is needed",
        ),
    ],
    ids=["no torch", "without CUDA", "no GPU", "one GPU", "three GPUs", "no Triton", "too old"],
)  # fmt: skip
def test_what_keeps_a_gpu_from_being_used(fake, data, torch, triton, expected):
    fake(torch, triton)
    with pytest.raises(InputError, match=expected) as caught:
        devices.prototype("cuda:3")
    assert "\n" not in str(caught.value)
    model = aw.AnchorTopicModel(3, device="cuda:3")
    with pytest.raises(InputError, match=expected):
        model.fit(data)
    assert not hasattr(model, "components_")
    assert not hasattr(model, "n_features_in_")


def test_a_gpu_that_is_busy(fake):
    fake(FakeTorch(lost=True))
    with pytest.raises(
        DeviceError, match=r"^cuda cannot be used \(CUDA error: all .* unavailable\): use device='cpu'\.$"
    ):
        devices.prototype("cuda")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            ImportError("libc10.so: no such file\nand more"),
            r"needs torch, which cannot be imported \(libc10\.so: no such",
        ),
        (
            OSError("libcudart.so.12: no such file"),
            r"cannot be imported \(libcudart\.so\.12: no such file\): install it",
        ),
    ],
)
def test_a_torch_that_cannot_be_imported(monkeypatch, error, expected):
    class Failing:
        def find_spec(self, name, *_):
            if name == "torch":
                raise error

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Failing(), *sys.meta_path])
    with pytest.raises(InputError, match=expected) as caught:
        devices.prototype("cuda")
    assert "and more" not in str(caught.value)


def test_what_is_on_a_gpu():
    assert not devices.on_gpu(None)
    assert not devices.on_gpu(np.zeros(2))
    assert devices.described(np.zeros(2)) == "cpu"
    torch = pytest.importorskip("torch")
    assert not devices.on_gpu(torch.zeros(2))
    assert devices.on_gpu(torch.zeros(2, device="meta"))


# ---- The parameter.


def test_parameters_are_those_of_scikit_learn():
    for kind in (aw.AnchorTopicModel, aw.TextTopicModel):
        assert kind().get_params()["device"] is None
        model = kind(3, device="cuda:1")
        assert clone(model).get_params() == model.get_params()
        assert model.set_params(device="cpu").device == "cpu"
    assert aw.AnchorTopicModel.from_preset("readers", 3, device="cuda").device == "cuda"
    with pytest.raises(InputError, match=r"options may hold .*but holds 'device'"):
        aw.TextTopicModel(3, options={"device": "cpu"}).fit(TEXTS)


def test_the_processor_by_name_is_no_device(data):
    expected = aw.AnchorTopicModel.from_preset("readers", 4).fit(data)
    named = aw.AnchorTopicModel.from_preset("readers", 4, device="cpu").fit(data)
    np.testing.assert_array_equal(named.components_, expected.components_)
    np.testing.assert_array_equal(named.transform(data), expected.transform(data))


def test_the_processor_takes_tensors_as_numpy_does(data, monkeypatch):
    torch = pytest.importorskip("torch")
    counts = data.counts.toarray()
    given = torch.from_numpy(counts.copy())
    seen = kinds_of_fits(monkeypatch)
    found = aw.AnchorTopicModel(4, device="cpu").fit(given)
    np.testing.assert_array_equal(found.components_, aw.AnchorTopicModel(4).fit(counts).components_)
    aw.AnchorTopicModel(4).fit(given)
    assert seen == ["numpy", "numpy", "torch"]


def kinds_of_fits(monkeypatch):
    """The namespaces that eigenpairs are computed in, one for each fit from now on."""
    from anchorwords.rectify import rectifiers

    seen, right = [], rectifiers.leading_eigenpairs

    def watched(*arguments, **options):
        pairs = right(*arguments, **options)
        seen.append(namespace_name(pairs[0]))
        return pairs

    monkeypatch.setattr(rectifiers, "leading_eigenpairs", watched)
    return seen


@pytest.mark.parametrize("kind", ["counts", "corpus", "stored", "blocks", "source", "batches", "sketch"])
def test_documents_of_every_kind_are_fitted_on_the_device(tensors, data, monkeypatch, tmp_path, kind):
    """On the device whatever they came as; attributes are NumPy's."""
    data.save(tmp_path / "corpus")
    counts = sp.csr_array(data.counts)
    seen = kinds_of_fits(monkeypatch)
    models = []
    for device in (None, "cuda"):
        model = aw.AnchorTopicModel(4, device=device)
        if kind == "batches":
            model.partial_fit(counts[:700]).partial_fit(counts[700:])
        else:
            model.fit(
                {
                    "counts": counts,
                    "corpus": data,
                    "stored": aw.open_corpus(tmp_path / "corpus"),
                    "blocks": [counts[:700], counts[700:]],
                    "source": aw.sources.convert.as_source(counts),
                    "sketch": aw.CooccurrenceSketch(4, rule=None).update(counts),
                }[kind]
            )
        models.append(model)
        for name in ("components_", "anchors_", "topic_correlation_", "topic_prevalence_", "word_topics_"):
            assert is_numpy(getattr(model, name))
        assert is_numpy(model.transform(counts))
    assert seen == ["numpy", "torch"]
    assert np.abs(models[0].components_ - models[1].components_).sum(axis=1).max() / 2.0 < 1e-5


def test_the_source_of_the_caller_stays_as_it_is(tensors, data):
    source = aw.sources.convert.as_source(data)
    aw.AnchorTopicModel(4, device="cuda").fit(source)
    assert source.like is None


def test_a_model_is_the_same_folder_wherever_it_was_learned(tensors, data, tmp_path):
    on_device = aw.AnchorTopicModel(4, device="cuda").fit(data)
    on_device.save(tmp_path / "model")
    text = (tmp_path / "model" / "model.json").read_text(encoding="utf-8")
    assert "device" not in text
    assert "cuda" not in text
    loaded = aw.load_model(tmp_path / "model")
    assert loaded.device is None
    assert loaded.get_params() == on_device.get_params() | {"device": None}
    np.testing.assert_array_equal(loaded.components_, on_device.components_)
    assert loaded.set_params(device="cuda").transform(data).shape == (data.n_docs, 4)
    assert loaded.with_model(loaded.model_).device == "cuda"


def test_a_folder_cannot_choose_a_device(data, tmp_path):
    from .storage.test_model_folder import manifest_of, reseal

    aw.AnchorTopicModel(4).fit(data).save(tmp_path / "model")
    manifest = manifest_of(tmp_path / "model")
    manifest["provenance"]["parameters"]["device"] = "cuda"
    reseal(tmp_path / "model", manifest)
    with pytest.raises(InputError, match="its parameter device is 'cuda'"):
        aw.load_model(tmp_path / "model")


def test_texts_are_fitted_on_the_device(tensors, monkeypatch, tmp_path):
    seen = kinds_of_fits(monkeypatch)
    model = aw.TextTopicModel(3, device="cuda").fit(TEXTS)
    assert seen == ["torch"]
    assert model.estimator_.device == "cuda"
    model.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    assert (loaded.device, loaded.estimator_.device, loaded.options) == (None, None, None)
    loaded.set_params(device="cuda:1").transform(TEXTS[:3])
    assert loaded.estimator_.device == "cuda:1"
    loaded.set_params(device=None).transform(TEXTS[:3])
    assert loaded.estimator_.device is None


def test_no_time_is_estimated_for_a_gpu(tensors, data, monkeypatch):
    said = []
    monkeypatch.setattr("anchorwords.fitting.say_if_long", lambda *facts: said.append(facts))
    aw.AnchorTopicModel(4, device="cuda").fit(data)
    assert len(said) == 1  # a tensor on the processor
    monkeypatch.setattr("anchorwords.fitting.on_gpu", lambda tensor: tensor is not None)
    aw.AnchorTopicModel(4, device="cuda").fit(data)
    assert len(said) == 1
    aw.AnchorTopicModel(4).fit(data)
    assert len(said) == 2


def test_fits_with_different_devices_do_not_interfere(tensors, data):
    chosen = (None, "cuda", "cpu", "cuda:1", None, "cuda")

    def fitted(device):
        return aw.AnchorTopicModel.from_preset("readers", 4, device=device, n_jobs=1).fit(data).components_

    one_by_one = [fitted(device) for device in chosen]
    with ThreadPoolExecutor(len(chosen)) as pool:
        side_by_side = list(pool.map(fitted, chosen))
    for alone, beside in zip(one_by_one, side_by_side, strict=True):
        np.testing.assert_array_equal(beside, alone)


def test_torch_is_not_imported_without_a_gpu():
    program = (
        "import sys, numpy as np, anchorwords as aw\n"
        "X = np.random.default_rng(0).poisson(0.5, (80, 30))\n"
        "model = aw.AnchorTopicModel(3, device='cpu').fit(X)\n"
        "model.transform(X)\n"
        "print(*sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"torch", "triton"}.isdisjoint(found.stdout.split())


@pytest.mark.parametrize("preset", ["paper", "readers"])
def test_a_whole_fit_by_the_kernels_for_gpus(tensors, monkeypatch, preset):
    """In Triton's interpreter, on tensors on the processor."""
    from anchorwords.kernels import torch_kernels

    from .kernels.test_contract import interpreted

    kernels = interpreted().kernels
    corpus = make_topics(n_docs=120, n_words=40, n_topics=3, doc_length=20, random_state=1).corpus
    expected = aw.AnchorTopicModel.from_preset(preset, 3).fit(corpus)
    weights = expected.transform(corpus[:5])
    monkeypatch.setattr(torch_kernels, "kernels_like", lambda _: kernels)
    found = aw.AnchorTopicModel.from_preset(preset, 3, device="cuda").fit(corpus)
    assert total_variation(found, expected) < 1e-4
    np.testing.assert_allclose(found.transform(corpus[:5]), weights, atol=1e-3)


# ---- Memory that is not enough, and GPUs that fail.


def test_an_operation_is_tried_again_in_smaller_blocks():
    torch = pytest.importorskip("torch")
    from anchorwords.kernels.gpu import memory

    room = memory.temporary_bytes() >> 3
    tried = []

    @memory.with_less_memory
    def operation(numbers, *, plus):
        tried.append(memory.temporary_bytes())
        if memory.temporary_bytes() > room:
            raise (torch.OutOfMemoryError if len(tried) % 2 else RuntimeError)("CUDA out of memory. Tried to allocate")
        return [number + plus for number in numbers]

    assert operation([1, 2], plus=3) == [4, 5]
    assert tried == [room << 3, room << 2, room << 1, room]
    assert memory.temporary_bytes() == room << 3
    others = []
    thread = threading.Thread(target=lambda: others.append(operation([1], plus=0)))
    thread.start()
    thread.join()
    assert others == [[1]]


def test_an_operation_gives_up_in_the_end():
    torch = pytest.importorskip("torch")
    from anchorwords.kernels.gpu import memory

    before, tried = memory.temporary_bytes(), []

    @memory.with_less_memory
    def operation(error):
        tried.append(memory.temporary_bytes())
        raise error

    with pytest.raises(torch.OutOfMemoryError):
        operation(torch.OutOfMemoryError("no"))
    assert tried == [before >> n for n in range(7)]
    assert memory.temporary_bytes() == before
    tried.clear()
    with pytest.raises(RuntimeError, match="shapes differ"):
        operation(RuntimeError("shapes differ"))
    assert tried == [before]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", True),
        ("cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling", True),
        ("Triton Error [CUDA]: out of memory", True),
        ("CUDA error: an illegal memory access was encountered", False),
        ("DefaultCPUAllocator: not enough memory", False),
    ],
)
def test_libraries_of_cuda_run_out_of_memory_too(message, expected):
    pytest.importorskip("torch")
    from anchorwords._memory import gpu_is_full

    assert gpu_is_full(RuntimeError(message)) == expected
    assert not gpu_is_full(ValueError(message))


def test_products_have_the_precision_of_their_numbers_meanwhile():
    """Whatever a program has asked torch for, and it gets that back when the last computation has ended."""
    torch = pytest.importorskip("torch")
    tensor, before = torch.zeros(1), torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with devices.computing_on(tensor):
            with devices.computing_on(tensor):
                assert torch.get_float32_matmul_precision() == "highest"
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


def test_memory_that_a_fit_needs():
    counts = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
    matrices = 17 * 8 * 3 * 50
    assert devices.fit_bytes(3, 50) == matrices
    assert devices.fit_bytes(3, 50, counts) == matrices + 2 * 6 * 3
    assert devices.fit_bytes(3, 50, counts * 0.5) == matrices + 2 * 12 * 3
    assert devices.fit_bytes(3, 50, counts * 20_000) == matrices + 2 * 12 * 3
    assert devices.fit_bytes(3, 50, sp.csr_array((2, 3))) == matrices
    expected = "this fit of 50,000 words, 3 counts and 100 topics needs about 0.6 GiB"
    assert devices.fit_needs(50_000, 100, counts) == expected
    assert devices.fit_needs(50, 10) == "this fit of 50 words and 10 topics needs about 1 MiB"


def failing_fit(monkeypatch, error):
    """Fits fail as they do on a GPU."""

    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("anchorwords.estimator.fit_documents", fail)


def test_too_little_memory_is_one_sentence(tensors, data, monkeypatch, caplog):
    model = aw.AnchorTopicModel(4, device="cuda").fit(data)
    before = dict(vars(model))
    failing_fit(monkeypatch, tensors.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nand so on"))
    model.set_params(n_components=200)
    before["n_components"] = 200
    with pytest.raises(TooLargeError) as caught:
        model.fit(data.counts)
    said = str(caught.value)
    assert said.startswith("the memory of the GPU is not enough: this fit of 300 words, ")
    assert "200 topics needs about" in said
    assert said.endswith("; use device='cpu', fewer topics or a smaller vocabulary.")
    assert "\n" not in said
    assert {name: vars(model)[name] is value for name, value in before.items()} == dict.fromkeys(before, True)
    assert model.components_.shape[0] == 4


def test_the_sentence_says_how_much_there_is(tensors, data, monkeypatch):
    monkeypatch.setattr(devices, "described", lambda _: "cuda:0, NVIDIA H200 with 139.8 GiB of memory")
    full = (tensors.zeros(0), 3 << 30)
    said = devices._memory_sentence(*full, "this fit of 5 words needs about 9.0 GiB")
    assert said == (
        "the memory of the GPU is not enough: cuda:0, NVIDIA H200 with 139.8 GiB of memory, had 3.0 GiB free and this fit "
        "of 5 words needs about 9.0 GiB; use device='cpu', fewer topics or a smaller vocabulary."
    )
    said = devices._memory_sentence(*full, None)
    assert said.endswith("had 3.0 GiB free; use device='cpu', or give fewer documents at a time.")
    assert devices._memory_sentence(full[0], None, None).startswith("the memory of the GPU is not enough; use ")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            RuntimeError("CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be ..."),
            r"the GPU cpu failed \(CUDA error: an illegal memory access was encountered\), and nothing was written: use",
        ),
        (RuntimeError("Triton Error [CUDA]: device-side assert triggered"), r"failed \(Triton Error \[CUDA\]: device-side"),
        (RuntimeError("Failed to find C compiler. Please specify via CC"), r"a C compiler, .*: install gcc and the header"),
        (
            subprocess.CalledProcessError(1, ["gcc", "main.c"]),
            r"C compiler, which is missing or fails \(Command .* returned non-zero exit status 1\): install gcc",
        ),
    ],
    ids=["kernel", "Triton", "no compiler", "no headers"],
)  # fmt: skip
def test_a_gpu_that_fails_is_one_sentence(tensors, data, monkeypatch, error, expected):
    model = aw.AnchorTopicModel(4, device="cuda").fit(data)
    before = model.components_
    failing_fit(monkeypatch, error)
    with pytest.raises(DeviceError, match=expected) as caught:
        model.fit(data)
    assert "\n" not in str(caught.value)
    assert model.components_ is before


def test_torch_has_an_error_of_its_own_for_a_gpu_that_fails(tensors):
    if not hasattr(tensors, "AcceleratorError"):
        pytest.skip("this torch has none")
    with (
        pytest.raises(DeviceError, match=r"failed \(unspecified launch failure\)"),
        devices.computing_on(tensors.zeros(0)),
    ):
        raise tensors.AcceleratorError("unspecified launch failure")


@pytest.mark.parametrize(
    "error", [RuntimeError("a defect"), ZeroDivisionError(), InputError("no"), MemoryError(), OSError(28)]
)
def test_other_errors_pass(tensors, data, monkeypatch, error):
    failing_fit(monkeypatch, error)
    with pytest.raises(type(error)) as caught:
        aw.AnchorTopicModel(4, device="cuda").fit(data)
    assert caught.value is error


def test_without_a_device_nothing_is_translated(tensors, data, monkeypatch):
    failing_fit(monkeypatch, tensors.OutOfMemoryError("the caller's own"))
    with pytest.raises(tensors.OutOfMemoryError, match="the caller's own"):
        aw.AnchorTopicModel(4).fit(data)


def test_what_a_failed_computation_held_is_released(tensors):
    """The frames of an error keep tensors alive for as long as a notebook remembers the error."""
    import gc
    import weakref

    kept = []

    def computation():
        held = tensors.zeros(3)
        kept.append(weakref.ref(held))
        raise tensors.OutOfMemoryError("no")

    with pytest.raises(TooLargeError) as caught, devices.computing_on(tensors.zeros(0)):
        computation()
    gc.collect()
    assert kept[0]() is None
    assert caught.value.__context__ is not None  # it is remembered, without its variables


@pytest.mark.parametrize(
    "call",
    [
        lambda model, X: model.transform(X),
        lambda model, X: list(model.transform_blocks(X)),
        lambda model, X: model.score(X),
        lambda model, X: model.perplexity(X),
        lambda model, X: aw.export.write_compositions(model, X, "topics.csv"),
    ],
    ids=["transform", "transform_blocks", "score", "perplexity", "write_compositions"],
)
def test_inference_fails_with_one_sentence_too(tensors, data, monkeypatch, tmp_path, call):
    monkeypatch.chdir(tmp_path)
    model = aw.AnchorTopicModel(4).fit(data).set_params(device="cuda")

    def fail(*arguments, **options):
        raise tensors.OutOfMemoryError("no")

    monkeypatch.setattr("anchorwords.infer.compose.penalised_compositions", fail)
    with pytest.raises(TooLargeError, match="give fewer documents at a time"):
        call(model, data)
    assert list(tmp_path.iterdir()) == []  # nothing half-written
    with pytest.raises(tensors.OutOfMemoryError):
        model.set_params(device=None).transform(data)


def test_batches_that_cannot_be_learned_from_keep_their_statistics(tensors, data, monkeypatch):
    model = aw.AnchorTopicModel(4, device="cuda").partial_fit(data)

    def fail(*arguments, **options):
        raise tensors.OutOfMemoryError("no")

    with monkeypatch.context() as patch:
        patch.setattr("anchorwords.estimation.batches.fit_sketch", fail)
        with pytest.raises(AttributeError, match="memory of the GPU is not enough"):
            _ = model.components_
    assert model.components_.shape == (4, data.n_words)


# ---- The command line.


@pytest.fixture(scope="module")
def folder(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("devices")
    data.save(folder / "corpus")
    aw.AnchorTopicModel(4).fit(data).save(folder / "model")
    return folder


def commands(folder, tmp_path):
    return (
        ("fit", folder / "corpus", "-k", 4, "-o", tmp_path / "out"),
        ("transform", folder / "model", folder / "corpus", "-o", tmp_path / "out.npz"),
    )


def test_commands_say_that_a_gpu_is_missing(fake, folder, tmp_path):
    fake(FakeTorch(n_devices=0))
    for command in commands(folder, tmp_path):
        done = run(*command, "--device", "cuda")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: device='cuda' needs an NVIDIA GPU and its driver, but torch finds none")
        assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_commands_refuse_what_is_no_device(folder, tmp_path):
    for command in commands(folder, tmp_path):
        done = run(*command, "--device", "gpu")
        assert done.returncode == 2
        assert "must be cpu, cuda, or cuda:1 and so on, but is 'gpu'" in done.stderr


def test_the_processor_by_name_is_the_default_of_commands(folder, tmp_path):
    for command in commands(folder, tmp_path):
        found = []
        for extra in ([], ["--device", "cpu"]):
            done = run(*command, *extra)
            assert done.returncode == 0, done.stderr
            assert "device" not in done.stderr
            if command[0] == "fit":
                found.append(aw.load_model(tmp_path / "out").components_)
            else:
                found.append(np.load(tmp_path / "out.npz")["weights"])
        np.testing.assert_array_equal(*found)


def test_commands_hand_the_device_on(tensors, monkeypatch, folder, tmp_path):
    monkeypatch.setattr(devices, "prototype", lambda _: tensors.zeros(0, dtype=tensors.float64))
    monkeypatch.setattr(devices, "on_gpu", lambda tensor: tensor is not None)
    monkeypatch.setattr(devices, "described", lambda _: "cuda:1, NVIDIA H200 with 139.8 GiB of memory")
    asked = []
    monkeypatch.setattr("anchorwords.estimator.prototype", asked.append)
    for command in commands(folder, tmp_path):
        asked.clear()
        done = run(*command, "--device", "cuda:1")
        assert done.returncode == 0, done.stderr
        assert "device: cuda:1, NVIDIA H200 with 139.8 GiB of memory" in done.stderr
        assert set(asked) == {"cuda:1"}
        assert "device:" not in run(*command, "--device", "cuda:1", "--quiet").stderr
    assert aw.load_model(tmp_path / "out").device is None


# ---- On a GPU.


@pytest.fixture(scope="module")
def cuda():
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return torch


def total_variation(one, other):
    return match_topics(one.model_.B, other.model_.B).total_variation.max()


def corpus_of(name, data, real_corpus):
    return data if name == "sampled" else real_corpus(name)


@pytest.mark.cuda
@pytest.mark.parametrize("name", ["sampled", pytest.param("nips12", marks=pytest.mark.data)])
@pytest.mark.parametrize("preset", ["paper", "readers"])
def test_a_gpu_gives_the_topics_of_the_processor(cuda, data, real_corpus, tmp_path, name, preset):
    corpus = corpus_of(name, data, real_corpus)
    K = 5 if name == "sampled" else 20
    expected = aw.AnchorTopicModel.from_preset(preset, K).fit(corpus)
    models = [aw.AnchorTopicModel.from_preset(preset, K, device="cuda").fit(corpus) for _ in range(2)]
    assert total_variation(models[0], expected) <= 0.01
    # The same bits every time.
    for attribute in ("components_", "topic_correlation_", "word_topics_"):
        assert is_numpy(getattr(models[0], attribute))
        assert getattr(models[0], attribute).tobytes() == getattr(models[1], attribute).tobytes()
    weights = models[0].transform(corpus)
    assert is_numpy(weights)
    assert weights.tobytes() == models[0].transform(corpus).tobytes()
    models[0].save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    assert loaded.device is None
    # The certificate of proportions is one of the objective; proportions of the two devices agree to its square root.
    np.testing.assert_allclose(loaded.transform(corpus), weights, atol=1e-3)
    assert np.abs(loaded.transform(corpus) - weights).mean() < 1e-5
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.cuda
def test_streamed_documents_give_the_topics_of_those_in_memory(cuda, data):
    counts = sp.csr_array(data.counts)
    held = aw.AnchorTopicModel.from_preset("readers", 5, device="cuda").fit(counts)
    streamed = aw.AnchorTopicModel.from_preset("readers", 5, device="cuda").fit([counts[:700], counts[700:]])
    assert total_variation(held, streamed) <= 0.01


@pytest.mark.cuda
def test_batches_and_sketches_are_fitted_on_a_gpu(cuda, data):
    models = [aw.AnchorTopicModel(5, device=device).partial_fit(data) for device in (None, "cuda")]
    assert total_variation(*models) <= 0.01


@pytest.mark.cuda
def test_texts_are_fitted_on_a_gpu(cuda):
    models = [aw.TextTopicModel(3, device=device).fit(TEXTS) for device in (None, "cuda")]
    assert total_variation(*models) <= 0.01
    # Anchors that are equally far away may come in another order.
    order = match_topics(models[0].model_.B, models[1].model_.B).other
    weights = [model.transform(TEXTS) for model in models]
    np.testing.assert_allclose(weights[1][:, order], weights[0], atol=1e-2)


@pytest.mark.cuda
def test_fits_side_by_side_give_the_bits_of_fits_one_by_one(cuda, data):
    last = f"cuda:{cuda.cuda.device_count() - 1}"
    chosen = ("cuda", None, last, "cuda")

    def fitted(device):
        model = aw.AnchorTopicModel.from_preset("readers", 5, device=device).fit(data)
        return model.components_.tobytes(), model.transform(data).tobytes()

    one_by_one = [fitted(device) for device in chosen]
    with ThreadPoolExecutor(len(chosen)) as pool:
        assert list(pool.map(fitted, chosen)) == one_by_one


@pytest.mark.cuda
def test_the_log_names_the_gpu(cuda, data, caplog):
    with caplog.at_level("INFO", logger="anchorwords"):
        aw.AnchorTopicModel(4, device="cuda").fit(data)
    said = [record.getMessage() for record in caplog.records if record.name == "anchorwords.device"]
    assert said
    assert all(cuda.cuda.get_device_name() in sentence and "GiB" in sentence for sentence in said)


@pytest.mark.cuda
def test_a_fit_that_does_not_fit_says_so_and_the_next_one_works(cuda, data):
    cuda.cuda.empty_cache()
    cuda.cuda.set_per_process_memory_fraction(1e-4)
    try:
        with pytest.raises(TooLargeError, match=r"had .* free and this fit of .* needs about"):
            aw.AnchorTopicModel(100, device="cuda").fit(make_topics(n_docs=4000, n_words=9000, n_topics=5).corpus)
    finally:
        cuda.cuda.set_per_process_memory_fraction(1.0)
    assert aw.AnchorTopicModel(4, device="cuda").fit(data).components_.shape[0] == 4


@pytest.mark.cuda
def test_commands_on_a_gpu(cuda, folder, tmp_path):
    fitted, transformed = commands(folder, tmp_path)
    done = run(*fitted, "--device", "cuda", "--json")
    assert done.returncode == 0, done.stderr
    assert "device: cuda:0, " in done.stderr
    assert json.loads(done.stdout)["topics"] == 4
    done = run(*transformed, "--device", "cuda")
    assert done.returncode == 0, done.stderr
    expected = aw.load_model(folder / "model").transform(aw.open_corpus(folder / "corpus"))
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["weights"], expected, atol=1e-3)


@pytest.mark.cuda
def test_numpy_decides_nothing_on_a_gpu(cuda, data):
    """A tensor on a GPU is fitted there without a device, and by NumPy with device="cpu"."""
    given = cuda.asarray(data.counts.toarray(), device="cuda")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*not writable")
        there = aw.AnchorTopicModel(4).fit(given)
        named = aw.AnchorTopicModel(4, device="cuda").fit(data.counts.toarray())
        here = aw.AnchorTopicModel(4, device="cpu").fit(given)
    np.testing.assert_array_equal(there.components_, named.components_)
    np.testing.assert_array_equal(here.components_, aw.AnchorTopicModel(4).fit(data.counts.toarray()).components_)
