"""The kernels for torch tensors on a GPU, written in torch and Triton.

Every Triton kernel also runs in Triton's interpreter (``TRITON_INTERPRET=1``) on tensors on the processor: that is how the
contract test checks it on machines without a GPU. Nothing here uses atomic operations on floating-point numbers, and no sum
depends on how work is distributed: the same input gives the same bits.
"""
