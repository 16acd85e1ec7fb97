from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

import anchorwords
from anchorwords.kernels import gram
from anchorwords.linalg import parallel, tall
from anchorwords.linalg.factored import factored_distance, factored_norm
from anchorwords.linalg.fixed_point import Iteration, iterate
from anchorwords.linalg.parallel import for_each_block, limited_threads, n_threads, one_library_thread
from anchorwords.linalg.sparse import csr_parts


def test_factored_distance_is_the_dense_one_and_ignores_rotation():
    rng = np.random.default_rng(0)
    Y, Z = rng.standard_normal((30, 4)), rng.standard_normal((30, 4))
    direct = np.linalg.norm(Y @ Y.T - Z @ Z.T) / np.linalg.norm(Z @ Z.T)
    assert factored_distance(Y, Z) == pytest.approx(direct, rel=1e-12)
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    assert factored_distance(Y @ Q, Y) < 1e-14
    assert factored_distance(Y + 1e-11 * Z, Y) == pytest.approx(
        np.linalg.norm(1e-11 * (Y @ Z.T + Z @ Y.T)) / factored_norm(Y), rel=1e-3
    )
    assert factored_distance(np.zeros((3, 2)), np.zeros((3, 2))) == 0.0
    with pytest.raises(ValueError, match="same number of columns"):
        factored_distance(Y, Z[:, :3])


def test_iterate_stops_on_the_violation():
    end = iterate(lambda x, _: (x / 2, Iteration(x / 2, x / 2)), 1.0, max_iter=50, tol=0.1)
    assert end.converged
    assert [h.violation for h in end.history] == [0.5, 0.25, 0.125, 0.0625]


def test_iterate_reports_the_limit_and_counts_steps():
    seen = []
    end = iterate(
        lambda _, t: (t, Iteration(1.0, 1.0)),
        0,
        max_iter=3,
        tol=0.1,
        callback=lambda step, _: seen.append(step),
    )
    assert not end.converged
    assert end.state == 2
    assert seen == [1, 2, 3]
    assert iterate(lambda x, _: (x, Iteration(0.0, 0.0)), 0, max_iter=3, tol=0.0).converged


def test_threads_follow_n_jobs(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    assert [n_threads(j) for j in (None, -1, -2, -9, 0, 1, 7)] == [4, 4, 3, 1, 1, 1, 7]
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert n_threads(None) == 3


def test_the_limit_holds_in_every_python_thread():
    # threadpoolctl gives the say to the first thread that sets a limit and ignores the others, silently.
    def library_threads():
        with limited_threads(1):
            return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    with threadpool_limits(2), ThreadPoolExecutor(1) as pool:
        here, elsewhere = library_threads(), pool.submit(library_threads).result()
    assert here == elsewhere == [1] * len(here)


def test_one_limit_on_blas_is_shared_and_restored():
    from threadpoolctl import ThreadpoolController

    def threads():
        return [library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers]

    before = threads()
    first, second = limited_threads(1), limited_threads(64)
    with limited_threads(None):
        assert threads() == before
    first.__enter__()
    second.__enter__()
    assert set(threads()) == {1}
    first.__exit__(None, None, None)  # the first to come is the first to go: the other's limit still holds
    assert threads() == before  # and 64 raises nothing
    second.__exit__(None, None, None)
    assert threads() == before


@pytest.mark.parametrize("rectifier", ["enn", "ap", "palm"])
def test_one_job_is_one_thread_throughout(rectifier, monkeypatch):
    corpus = anchorwords.datasets.make_topics(300, 400, 3, doc_length=60, random_state=0).corpus
    for name, value in (("_SMALL", 0), ("_LONG", 0), ("_ROWS", 64)):  # every product is worth a second thread
        monkeypatch.setattr(tall, name, value)
    monkeypatch.setattr(parallel, "_HELPERS", parallel._Helpers())
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", anchorwords.exceptions.ConvergenceWarning)
        anchorwords.AnchorTopicModel(3, rectifier=rectifier, n_jobs=1).fit(corpus)
    assert parallel._HELPERS.n_started == 0
    assert n_threads(None) == 4


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_blocks_cover_everything_once_and_raise(jobs):
    seen = np.zeros(103, int)

    def work(start, stop):
        seen[start:stop] += 1

    for_each_block(work, 103, 10, jobs)
    assert (seen == 1).all()
    for_each_block(work, 0, 10, jobs)

    def fail(start, stop):
        raise KeyError(start)

    with pytest.raises(KeyError):
        for_each_block(fail, 30, 10, jobs)


@pytest.mark.parametrize("n_columns", [1, 7, 8, 20])
def test_gram_products_are_the_same_bits_for_any_threads(n_columns, monkeypatch):
    monkeypatch.setattr(gram, "_COUNTS", 5000)  # several accumulators for a small matrix
    matrix = sp.random_array((5000, 300), density=0.05, random_state=np.random.default_rng(0), format="csr")
    V = np.random.default_rng(1).standard_normal((300, n_columns))
    one = gram.gram_apply(csr_parts(matrix), V, 1)
    np.testing.assert_allclose(one, matrix.T @ (matrix @ V), atol=1e-11)
    np.testing.assert_array_equal(one, gram.gram_apply(csr_parts(matrix), V, 3))
    parts = csr_parts(sp.csr_array(matrix.astype(np.float32)))
    assert [part.dtype for part in parts] == [np.int64, np.int32, np.float64]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tall_products_are_the_same_bits_for_any_threads(dtype, monkeypatch):
    monkeypatch.setattr(tall, "_SMALL", 0)
    monkeypatch.setattr(tall, "_LONG", 0)
    rng = np.random.default_rng(0)
    A, B, T = (rng.standard_normal(shape).astype(dtype) for shape in ((4000, 5), (4000, 5), (5, 3)))
    rtol = float(64 * np.finfo(dtype).eps * 4000**0.5)
    for jobs in (1, 3):
        np.testing.assert_allclose(tall.gram(A, B, jobs), A.T @ B, rtol=rtol, atol=rtol * 60)
        np.testing.assert_array_equal(tall.gram(A, B, jobs), tall.gram(A, B, 1))
        np.testing.assert_allclose(tall.times(A, T, jobs), A @ T, rtol=rtol, atol=rtol)
        assert tall.dot(A, B, jobs) == tall.dot(A, B, 1) == pytest.approx(float(np.sum(A * B)), rel=rtol, abs=rtol * 60)
        total = A.copy()
        assert tall.add_scaled(total, 0.5, B, jobs) is total
        np.testing.assert_allclose(total, A + dtype(0.5) * B, rtol=rtol, atol=rtol)
        assert tall.times(A, T, jobs).dtype == dtype
        total = A.copy()
        assert tall.scaled_sum(0.5, total, B, jobs) is total
        np.testing.assert_allclose(total, dtype(0.5) * A + B, rtol=rtol, atol=rtol)
        total = A.copy()
        assert tall.add_row(total, T[:, 0], jobs) is total
        np.testing.assert_array_equal(total, A + T[:, 0])
        order = rng.permutation(4000)[:3000]
        np.testing.assert_array_equal(tall.take_rows(A, order, jobs), A[order])
        np.testing.assert_allclose(tall.squared_lengths(A, jobs), np.sum(A * A, axis=1), rtol=rtol)
        sums = tall.column_sums(A, jobs)
        assert sums.dtype == np.float64
        np.testing.assert_allclose(sums, A.astype(np.float64).sum(axis=0), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(sums, tall.column_sums(A, 1))


@pytest.mark.parametrize("small", [0, 1 << 24])
def test_a_tall_product_takes_another_precision_and_a_matrix_to_add(small, monkeypatch):
    monkeypatch.setattr(tall, "_SMALL", small)
    rng = np.random.default_rng(0)
    A, B, T = rng.standard_normal((3000, 5)), rng.standard_normal((3000, 3)), rng.standard_normal((5, 3))
    for jobs in (1, 3):
        single = tall.times(A, T, jobs, dtype=np.float32)
        assert single.dtype == np.float32
        np.testing.assert_array_equal(single, A.astype(np.float32) @ T.astype(np.float32))
        added = tall.times(A, T, jobs, dtype=np.float32, plus=B)
        assert added.dtype == np.float64
        np.testing.assert_array_equal(added, B + single)
        np.testing.assert_allclose(tall.times(A, T, jobs, plus=B), B + A @ T, rtol=1e-12, atol=1e-12)


def test_a_fit_inside_a_block_does_not_wait_for_itself():
    seen = []

    def inner(start, stop):
        seen.append((start, stop))

    for_each_block(lambda *_: for_each_block(inner, 4, 1, 4), 6, 1, 3)
    assert len(seen) == 24


def test_fits_side_by_side_share_the_cores(monkeypatch):
    """Two fits in threads of one process get half the cores each, and all again when they are done."""
    import threading

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    barrier, shares = threading.Barrier(2), []

    def fit():
        with one_library_thread(), limited_threads(None):
            barrier.wait()
            shares.append(n_threads(None))
            barrier.wait()

    threads = [threading.Thread(target=fit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shares == [4, 4]
    assert n_threads(None) == 8
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert n_threads(None) == 3
    assert n_threads(-1) == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_threads_of_its_own():
    for_each_block(lambda *_: None, 8, 1, 4)
    child = os.fork()
    if child == 0:
        seen = []
        for_each_block(lambda start, _: seen.append(start), 8, 1, 4)
        os._exit(0 if sorted(seen) == list(range(8)) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_kernels_compile_where_no_cache_can_be_written(tmp_path):
    """A read-only package and a home that is a file: compiled afresh, silently, with the same answer."""
    package = tmp_path / "site" / "anchorwords"
    shutil.copytree(Path(anchorwords.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "home").write_text("not a folder")
    for folder in [package, *(p for p in package.rglob("*") if p.is_dir())]:
        # Root ignores permissions: a file in the place of the cache folder stops it too.
        (folder / "__pycache__").write_text("")
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    script = (
        "from anchorwords.linalg.simplex import simplex_least_squares as solve; import numpy as np;"
        "print(solve(np.eye(2), np.eye(2)))"
    )
    environment = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    environment |= {
        "PYTHONPATH": str(tmp_path / "site"),
        "HOME": str(tmp_path / "home"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    for folder in [package, *(p for p in package.rglob("*") if p.is_dir())]:
        folder.chmod(stat.S_IRWXU)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.split() == ["[[1.", "0.]", "[0.", "1.]]"]
