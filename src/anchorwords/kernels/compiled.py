"""Compile kernels with numba, at their first call, cached on disk where that is possible."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.compiler import Compiler
from numba.extending import register_jitable

logger = logging.getLogger("anchorwords.linalg")

# The compiler takes one thread at a time, and a kernel is to be compiled once.
_COMPILING = threading.RLock()
if hasattr(os, "register_at_fork"):
    # A fork waits until no kernel is being compiled: a child would find this lock, and the compiler's own, held by a thread
    # that it does not have.
    os.register_at_fork(
        before=_COMPILING.acquire, after_in_parent=_COMPILING.release, after_in_child=_COMPILING.release
    )

# The argument types of all kernels. Arrays are C-ordered; those a kernel only reads are declared read-only, which
# accepts writable ones too.
VOID = types.void
INT_PAIR_AND_FLAG = types.Tuple((types.int64, types.int64, types.boolean))  # type: ignore[no-untyped-call]
BYTES = types.Array(types.uint8, 1, "C", readonly=True)
WRITE_BYTES = types.Array(types.uint8, 1, "C")
HASHES = types.Array(types.uint64, 1, "C")
INT_MATRIX = types.Array(types.int64, 2, "C")
INT = types.int64
FLOAT = types.float64
HASH = types.uint64
BOOL = types.boolean
VECTOR = types.Array(types.float64, 1, "C")
MATRIX = types.Array(types.float64, 2, "C")
FLAGS = types.Array(types.boolean, 1, "C")
INDICES = types.Array(types.int64, 1, "C")
READ_INDICES = types.Array(types.int64, 1, "C", readonly=True)
SHORT_INDICES = types.Array(types.int32, 1, "C")
SINGLE_VECTOR = types.Array(types.float32, 1, "C")
READ_SINGLE_VECTOR = types.Array(types.float32, 1, "C", readonly=True)
SINGLE_MATRIX = types.Array(types.float32, 2, "C")
READ_SINGLE_MATRIX = types.Array(types.float32, 2, "C", readonly=True)
READ_VECTOR = types.Array(types.float64, 1, "C", readonly=True)
READ_MATRIX = types.Array(types.float64, 2, "C", readonly=True)
# A CSR matrix as three arguments: see anchorwords.linalg.sparse.csr_parts.
CSR = (
    types.Array(types.int64, 1, "C", readonly=True),
    types.Array(types.int32, 1, "C", readonly=True),
    READ_VECTOR,
)


_SINGLE = {
    MATRIX: SINGLE_MATRIX,
    READ_MATRIX: READ_SINGLE_MATRIX,
    READ_VECTOR: READ_SINGLE_VECTOR,
}

# What a sum may be reordered by: vector lanes and fused multiply-adds. The order is fixed when the kernel is compiled.
_REORDER = {"reassoc", "contract", "nsz"}


class _ApartCompiler(Compiler):
    """numba's compiler for functions whose arrays do not overlap: it makes no second form of each loop in case they do."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        self.state.flags.noalias = True
        return super().define_pipelines()  # type: ignore[no-untyped-call]


class Kernel:
    """A function that is compiled when it is first called, for the types given and no others.

    The machine code is cached beside the module, or in the user's cache folder where the package folder is
    read-only. Where neither can be written, or what is there is damaged, the kernel is compiled afresh,
    silently. Threads are ours (see :mod:`anchorwords.linalg.parallel`), not numba's: numba's default thread pool
    aborts the process when two Python threads enter it at once.

    Attributes
    ----------
    py_func : function
        The source, as plain Python.
    """

    def __init__(self, function: Callable[..., Any], signatures: list[Any], straight: bool, **options: Any) -> None:
        self.py_func = function
        self._signatures = signatures
        self._straight = straight
        # A function that a kernel calls, and that is not inlined, is in the machine code as a weak symbol. The process that
        # compiles takes the function's own earlier code for it, a process that loads the kernel takes the copy that comes
        # with the kernel: each was optimised differently and rounds differently. So every call is inlined.
        self._options = {
            "nogil": True,
            "error_model": "numpy",
            "forceinline": True,
            "no_cfunc_wrapper": True,  # nothing calls it from C, and it would be compiled too
            **options,
        }
        self._forms: list[Callable[..., Any] | None] = [None] * len(signatures)
        update_wrapper(self, function)

    def build(self) -> None:
        """Compile all forms, or load them from the cache."""
        for form in range(len(self._forms)):
            self._compiled(form)

    def is_cached(self) -> bool | None:
        """Whether all forms are in numba's cache; None if that cannot be said, such as without a folder for a cache."""
        try:
            dispatcher: Any = numba.njit(cache=True, **self._options)(self.py_func)
        except RuntimeError:
            return None
        try:  # loading the forms would not need numba's internals, but takes ten times as long
            cache, codegen = dispatcher._cache, dispatcher.targetctx.codegen()
            known = cache._cache_file._load_index()
            return all(cache._index_key(form, codegen) in known for form in self._signatures)
        except AttributeError:  # a numba that keeps its cache in another way
            return None
        except Exception as error:  # what numba cannot read it compiles anew
            logger.debug("the cache of kernel %s cannot be read: %s", self.py_func.__name__, error)
            return False

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled form."""
        single = len(self._forms) > 1 and arguments[-1].dtype == np.float32
        return (self._forms[single] or self._compiled(single))(*arguments)

    def _compiled(self, form: int) -> Callable[..., Any]:
        with _COMPILING:
            if self._forms[form] is None:
                config: Any = numba.config
                before = config.SLP_VECTORIZE, config.LOOP_VECTORIZE
                try:
                    if self._straight:
                        config.SLP_VECTORIZE, config.LOOP_VECTORIZE = 1, 0
                    self._forms[form] = self._compile(form)
                finally:
                    config.SLP_VECTORIZE, config.LOOP_VECTORIZE = before
        compiled_form = self._forms[form]
        assert compiled_form is not None
        return compiled_form

    def _compile(self, form: int) -> Callable[..., Any]:
        signature = self._signatures[form]
        try:
            return numba.njit(signature, cache=True, **self._options)(self.py_func)
        except Exception as error:
            logger.debug("kernel %s is not cached: %s", self.py_func.__name__, error)
            return numba.njit(signature, **self._options)(self.py_func)


def compiled(
    result: Any,
    *arguments: Any,
    reorder: bool = False,
    single: bool = False,
    straight: bool = False,
    apart: bool = False,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a kernel for these types: see :class:`Kernel`.

    ``reorder=True`` lets sums run in vector lanes: several times faster for inner products, at the price of last digits
    that may differ between kinds of processor. ``single=True`` adds a second form in which every float64 array is
    float32, chosen by the last argument. ``straight=True`` is for kernels unrolled by hand: it has the compiler look for
    vectors in straight-line code and not in loops, where it would gather numbers from all over memory into one vector.
    ``apart=True`` promises that no two arrays overlap unless both are only read, which large kernels compile quicker with.
    """
    signatures = [result(*arguments)]
    if single:
        signatures.append(result(*(_SINGLE.get(argument, argument) for argument in arguments)))

    def decorate(function: Callable[..., Any]) -> Kernel:
        compiler = {"pipeline_class": _ApartCompiler} if apart else {}
        return Kernel(function, signatures, straight, fastmath=_REORDER if reorder else False, **compiler)

    return decorate


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function callable from kernels; called from Python it is plain Python. Its arrays must not overlap."""
    return register_jitable(error_model="numpy", no_cfunc_wrapper=True, pipeline_class=_ApartCompiler)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """As :func:`inner`, for functions that are called in one place, or are so short that a call would cost more than they.

    numba copies their source to the place of the call before it infers types. This compiles fastest, except for long
    functions that are nested, which are copied at each level. Their source is ``py_func``.
    """
    return numba.njit(error_model="numpy", inline="always")(function)
