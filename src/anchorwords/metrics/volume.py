"""LogRelativeVolume: how large the hull of the anchors is, beside hulls of random words (paper, section 5).

Notation
--------
V : volume of the simplex spanned by the K anchors' rows of the rectified Cbar, in K - 1 dimensions
R : rows of a random co-occurrence, each drawn uniformly from the simplex of N words (Dirichlet(1))
g : (R, N) independent exponential numbers; a row divided by its sum is such a draw

The factor 1 / (K - 1)! of a simplex is the same in both volumes and left out.

Pivots and volumes of random rows need inner products only, so rows are made a block of columns at a time and never
held. Norms come first; inner products are then taken with the longest rows alone, among which the pivots are. Should
one not be, which the products tell, more rows are taken.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer, check_seed
from ..anchors.lowrank import rows_and_anchors
from ..anchors.tandem import anchor_rows_of
from ..exceptions import InputError, UndefinedMetricError
from ..linalg.parallel import for_each_block, one_library_thread
from ..model import TopicModel, as_topic_model
from .measure import Measure
from .reference import matrix_in_words, require_anchors

# Rows of a random co-occurrence for each topic, and draws of it.
ROWS_A_TOPIC = 20
N_DRAWS = 20
# With at most so many words all rows can be drawn.
ALL_ROWS = 5000
# Random numbers alive at a time in a thread: 4 MiB.
_ALIVE = 1 << 19
# Random numbers of all draws: more than these make do with fewer draws, though never fewer than so many.
_NUMBERS = 2 * 10**8
_FEWEST_DRAWS = 3


class RandomHulls(NamedTuple):
    """Hulls of random rows.

    Attributes
    ----------
    log_mean_volume : float
        Logarithm of the mean volume, (K - 1)! left out.
    standard_error : float
        Of that logarithm.
    """

    log_mean_volume: float
    standard_error: float


def log_relative_volume(
    model: Any, C: Any = None, *, n_draws: int | None = None, n_rows: int | None = None, random_state: int = 0
) -> float:
    """LogRelativeVolume, log V - log mean V_rand, natural logarithm; higher is better, -inf for a flat hull.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
        Of at least two topics.
    C : (N, N) array, optional
        Rectified co-occurrence; needed where the model holds no compression Y.
    n_draws : int, optional
        Random hulls the volume is compared with: 20, or down to 3 where they would take more than 2 x 10^8 random numbers.
    n_rows : int, optional
        Random rows among which the K pivots of each are chosen, min(N, 20 K) by default; N is the paper's, and more
        rows make larger hulls.
    random_state : int
        Seed of the draws.
    """
    record = as_topic_model(model)
    return measure_volume(record, C, n_draws=n_draws, n_rows=n_rows, random_state=random_state).value


def measure_volume(
    record: TopicModel,
    C: Any = None,
    *,
    n_draws: int | None = None,
    n_rows: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Measure:
    """LogRelativeVolume; of each topic the distance of its anchor from the hull of the others."""
    K = record.n_components
    if K == 1:
        raise UndefinedMetricError(
            "the hull of a single anchor has no volume: log_relative_volume needs at least two topics."
        )
    N = int(np.count_nonzero(record.word_probs > 0.0))
    vertices = _anchor_rows(record, C)
    rows = min(N, ROWS_A_TOPIC * K) if n_rows is None else check_positive_integer(n_rows, "n_rows")
    if rows < K or rows > N:
        raise InputError(f"n_rows must be from n_components={K} to the {N} words that occur, but is {rows}.")
    hulls = random_hulls(N, K, rows, affordable_draws(N, rows, n_draws), check_seed(random_state), n_jobs)
    return Measure(log_simplex_volume(vertices) - hulls.log_mean_volume, anchor_heights(vertices), hulls.standard_error)


def _anchor_rows(record: TopicModel, C: Any) -> FloatArray:
    if C is not None:
        matrix = matrix_in_words(record, C)
        if record.anchor_groups is not None:
            return anchor_rows_of(record, lambda words: sp.csr_array(np.maximum(matrix[words], 0.0))).toarray()
        rows = matrix[record.anchors]
        sums = np.zeros(record.n_words)
        sums[record.anchors] = rows.sum(axis=1)
        require_anchors(record, sums)
        return rows / sums[record.anchors, None]
    if record.Y is None:
        raise UndefinedMetricError(
            "this model holds no compression Y: give the rectified co-occurrence C it was read off."
        )
    return rows_and_anchors(record)[1]


def log_simplex_volume(vertices: FloatArray) -> float:
    """Logarithm of (K - 1)! times the volume of the simplex of these K rows; -inf where they lie in fewer dimensions."""
    lengths = np.linalg.svd(vertices[1:] - vertices[0], compute_uv=False)
    # Vertices that differ by the rounding of their entries alone are the same.
    scale = max([*lengths[:1], np.abs(vertices).max()])
    flat = (
        lengths.size < vertices.shape[0] - 1
        or (lengths[-1:] <= max(vertices.shape) * np.finfo(float).eps * scale).any()
    )
    return float("-inf") if flat else float(np.log(lengths).sum())


def anchor_heights(vertices: FloatArray) -> FloatArray:
    """Distance of each vertex of a simplex from the affine hull of the others, 0 in a flat one.

    The barycentric coordinate of a vertex falls from 1 to 0 over that distance, and the gradients of the coordinates
    are the columns of the pseudo-inverse of the centred vertices.
    """
    if log_simplex_volume(vertices) == float("-inf"):
        return np.array([_height(vertices, k) for k in range(vertices.shape[0])])
    return 1.0 / np.linalg.norm(np.linalg.pinv(vertices - vertices.mean(axis=0), rcond=1e-15), axis=0)


def _height(vertices: FloatArray, k: int) -> float:
    """The same of one vertex, whatever the others span."""
    others = np.delete(vertices, k, axis=0)
    base = others[0]
    basis, lengths, _ = np.linalg.svd((others[1:] - base).T, full_matrices=False)
    basis = basis[:, lengths > max(vertices.shape) * np.finfo(float).eps * max(float(lengths.max(initial=0.0)), 1e-300)]
    away = vertices[k] - base
    left = away - basis @ (basis.T @ away)
    height = float(np.linalg.norm(left))
    return height if height > 1e-12 * float(np.linalg.norm(vertices)) else 0.0


def affordable_draws(N: int, n_rows: int, n_draws: int | None) -> int:
    """Draws asked for, or 20, or fewer where these are large: their volumes then differ little."""
    if n_draws is not None:
        return check_positive_integer(n_draws, "n_draws")
    return min(N_DRAWS, max(_FEWEST_DRAWS, _NUMBERS // (N * n_rows)))


@lru_cache(maxsize=256)
def random_hulls(
    n_words: int, n_topics: int, n_rows: int, n_draws: int, random_state: int, n_jobs: int | None = None
) -> RandomHulls:
    """Hulls of ``n_topics`` pivots among ``n_rows`` random rows; kept, as models of the same size share them."""
    logs = np.zeros(n_draws)

    def work(draw: int, _: int) -> None:
        logs[draw] = _random_log_volume(n_words, n_topics, n_rows, (random_state, draw))

    with one_library_thread():
        for_each_block(work, n_draws, 1, n_jobs)
    mean = float(logsumexp(logs)) - float(np.log(n_draws))
    if n_draws == 1:
        return RandomHulls(mean, float("nan"))
    # d log(mean) = d mean / mean
    return RandomHulls(mean, float(np.std(np.exp(logs - mean), ddof=1) / np.sqrt(n_draws)))


def _random_log_volume(N: int, K: int, R: int, seed: tuple[int, int]) -> float:
    """Log volume of the hull of K pivots among R uniform rows of the simplex of N words."""
    sums, squares = np.zeros(R), np.zeros(R)
    for block in _columns(N, R, seed):
        sums += block.sum(axis=1)
        squares += np.einsum("ij,ij->i", block, block)
    squares /= sums**2
    longest = np.argsort(-squares, kind="stable")
    size = 2 * K + 20
    while True:
        candidates = longest[: size if 2 * size < R else R]
        products = _inner_products(N, R, seed, candidates, sums)
        pivots = _pivots(products, candidates, squares, K)
        if pivots is not None:
            return _log_volume_of_gram(products[np.ix_(candidates[pivots], pivots)])
        size *= 2


def _columns(N: int, R: int, seed: tuple[int, int]) -> Any:
    """The random numbers g, some columns at a time; the same for the same seed."""
    generator = np.random.default_rng(seed)
    step = max(1, _ALIVE // R)
    for start in range(0, N, step):
        yield generator.standard_exponential((R, min(step, N - start)))


def _inner_products(N: int, R: int, seed: tuple[int, int], rows: IntArray, sums: FloatArray) -> FloatArray:
    """Inner products of every normalised row with these."""
    products = np.zeros((R, rows.size))
    for block in _columns(N, R, seed):
        products += block @ block[rows].T
    return products / np.outer(sums, sums[rows])


def _pivots(products: FloatArray, candidates: IntArray, squares: FloatArray, K: int) -> IntArray | None:
    """Places among the candidates of the pivots of column-pivoted QR of all rows; None if one is not a candidate."""
    place = np.full(squares.size, -1)
    place[candidates] = np.arange(candidates.size)
    distance = squares.copy()
    basis = np.zeros((squares.size, K))
    chosen: list[int] = []
    for k in range(K):
        pivot = int(np.argmax(distance))
        if place[pivot] < 0:
            return None
        basis[:, k] = (products[:, place[pivot]] - basis[:, :k] @ basis[pivot, :k]) / np.sqrt(distance[pivot])
        distance -= basis[:, k] ** 2
        chosen.append(pivot)
        distance[chosen] = -1.0
    return place[np.array(chosen)]


def _log_volume_of_gram(Gram: FloatArray) -> float:
    """Half the log determinant of the Gram matrix of differences to the first row."""
    differences = Gram[1:, 1:] - Gram[1:, [0]] - Gram[[0], 1:] + Gram[0, 0]
    return float(np.log(np.diagonal(np.linalg.cholesky(differences))).sum())
