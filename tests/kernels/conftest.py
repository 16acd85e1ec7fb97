"""Where the kernels for GPUs run: on a GPU, or on the processor in Triton's interpreter."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(params=["interpreted", pytest.param("gpu", marks=pytest.mark.cuda)])
def device(request):
    torch = pytest.importorskip("torch")
    if request.param == "gpu":
        if not torch.cuda.is_available():
            pytest.skip("needs an NVIDIA GPU")
        return torch.device("cuda")
    pytest.importorskip("triton")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("needs TRITON_INTERPRET=1 in the environment")
    return torch.device("cpu")
