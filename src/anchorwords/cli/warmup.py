"""``anchorwords warmup``."""

from __future__ import annotations

from .compiling import compiling_progress, sentence
from .options import Jobs, Json, Quiet
from .output import print_json


def warmup(jobs: Jobs = None, as_json: Json = False, quiet: Quiet = False) -> None:
    """Compile the numerical kernels, once per installation, so that no later command has to.

    Commands compile the kernels that they need when they first need them. This compiles all of them at once, for example
    when an image of a container is built, or before the first fit in a notebook. If they are compiled, it does nothing.

    Example: anchorwords warmup
    """
    from time import perf_counter

    from ..kernels.ahead import Compilation, missing_kernels
    from ..kernels.ahead import warmup as compile_all
    from .console import remark, say

    begin = perf_counter()
    if names := missing_kernels():
        remark(sentence(Compilation(names, jobs).seconds), quiet)
    with compiling_progress(quiet or not names) as progress:
        n_compiled = compile_all(n_jobs=jobs, progress=progress)
    seconds = perf_counter() - begin
    if as_json:
        print_json({"compiled": n_compiled, "seconds": round(seconds, 3)})
    elif not quiet:
        done = f"compiled {n_compiled} kernels in {seconds:.1f} s" if n_compiled else "all kernels are compiled already"
        say(done)
