"""What an implementation of the kernels provides: the operations that are not plain array algebra.

Every operation works on arrays and knows nothing of topics or of policy. A sparse matrix is its three CSR arrays, see
:data:`CsrParts`. Dense arguments may be of the namespace that the implementation is for, and results are of the
namespace and on the device of the arguments. Nothing writes into an argument, except into *accumulators*: these are
returned, an implementation may update them in place, and so callers use what is returned. Results do not depend on
``n_jobs``, the number of threads.

The contract test, ``tests/kernels/test_contract.py``, checks every implementation against the formulas given here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray

# indptr, indices and data of a CSR matrix: see anchorwords.linalg.sparse.csr_parts.
CsrParts: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], FloatArray]

# Certificate of optimality that `compose` reaches for every document it can solve.
PROPORTIONS_GAP = 1e-6
# What a character is within a word: part of it, a letter, a letter of a script without spaces. 0 separates words.
PART, LETTER, UNSPACED = 1, 2, 3


class TooDense(Exception):
    """The negative part has too many entries to be listed."""


class TokenRule(NamedTuple):
    """Which runs of characters count as words.

    Attributes
    ----------
    min_length, max_length : int
        Fewest and most characters.
    need_letter : bool
        Skip words without a letter.
    least, most : int
        Fewest and most consecutive words of the n-grams that are counted.
    """

    min_length: int
    max_length: int
    need_letter: bool
    least: int
    most: int


class Expectation(NamedTuple):
    """What `expect` found for M documents.

    Attributes
    ----------
    gamma : (M, K) array
        Dirichlet parameters after the last step.
    v : (M, K) array
        exp(digamma(gamma)) before the last step, rows scaled to sum to one.
    ratio : (entries,) array
        Counts divided by their probabilities B v at the last step.
    likelihood : (M,) array
        sum_i x_i log (B v)_i.
    """

    gamma: Any
    v: Any
    ratio: Any
    likelihood: Any


class Proportions(NamedTuple):
    """What `compose` found for M documents.

    Attributes
    ----------
    weights : (M, K) array
        Topic proportions; rows on the simplex.
    log_likelihood : (M,) array
    n_known : (M,) array
        Tokens of known words.
    gap : (M,) array
        Bound on what the concave objective could still gain; infinite if a document could not be solved.
    """

    weights: Any
    log_likelihood: Any
    n_known: Any
    gap: Any


class NegativePart(Protocol):
    """E = max(-Y Y', 0) on the first n rows and columns of Y Y', zero elsewhere; Omega is where E is positive."""

    @property
    def total(self) -> float:
        """Sum of the entries of E."""
        ...

    @property
    def squares(self) -> float:
        """Squared Frobenius norm of E."""
        ...

    @property
    def min_entry(self) -> float:
        """Most negative entry of Y Y' on the checked rows, 0 if there is none."""
        ...

    def times(self, V: Any) -> Any:
        """E V for V (N, k), in the precision of V."""
        ...

    def curvature(self, V: Any, P: Any) -> Any:
        """D(P V' + V P') V for V and P (N, K), with D the projection to Omega."""
        ...

    def pairs(self) -> tuple[Any, Any]:
        """Rows j and partners i < j, i < n, of the negative entries, sorted; raises TooDense for too many."""
        ...


class GramStream(Protocol):
    """The sum of G_b'(G_b V) over blocks b of rows of G that arrive one after the other.

    It holds no sums itself: a block is added to a running total, and totals of different blocks add by ``+``, wherever
    they were made.

    Attributes
    ----------
    n_groups : int
        Running totals worth keeping side by side; depends on the size of V only.
    """

    n_groups: int

    def add(self, total: Any, rows: CsrParts) -> Any:
        """Add one block to a running total, None at first; returns the total. Indices need not be sorted."""
        ...

    def result(self, total: Any) -> Any:
        """The product (N, k) that a total stands for."""
        ...


class PreparedCounts(Protocol):
    """Counts X (M, N), documents x words, in the form in which sums and products over all of them are fastest."""

    @property
    def largest(self) -> float:
        """Largest count, 0 if there is none."""
        ...

    @property
    def fractional(self) -> bool:
        """Whether any count is not a whole number."""
        ...

    def lengths(self) -> Any:
        """Sum of the counts of each document, (M,)."""
        ...

    def pair_sums(self, weights: Any) -> tuple[Any, Any, Any]:
        """Sums (N,) over documents m of weight w_m > 0: of w x_mi, of w x_mi^2, and the number of documents."""
        ...

    def gram(self, weights: Any, V: Any, n_jobs: int | None = None) -> Any:
        """X'(w * (X V)) for weights w (M,), or None for ones, and V (N, k)."""
        ...


class WordTable(Protocol):
    """Counts the words of UTF-8 text and numbers them in the order in which it meets them."""

    @property
    def n_known(self) -> int:
        """Numbers given so far."""
        ...

    @property
    def n_tokens(self) -> int:
        """Words met that the rule admits, stop words included."""
        ...

    @property
    def n_unspaced(self) -> int:
        """Those of them with a letter of a script without spaces."""
        ...

    def number(self, word: bytes) -> int:
        """Number of a word, which becomes known if it was not."""
        ...

    def numbers(self, words: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """Numbers of words, which become known if they were not."""
        ...

    def count(self, text: bytes, bounds: npt.NDArray[np.int64]) -> tuple[Any, Any, Any]:
        """Entries per document, and the number and count of each entry, of documents text[bounds[i]:bounds[i + 1]]."""
        ...

    def words(self) -> dict[int, bytes]:
        """Words and n-grams counted so far, by number; stop words and mere parts of n-grams are not among them."""
        ...


class Kernels(Protocol):
    """One implementation of all operations."""

    def gram_apply(self, rows: CsrParts, V: Any, n_jobs: int | None = None) -> Any:
        """G'(G V) for G (M, N) given by its rows and V (N, k)."""
        ...

    def prepared(self, rows: CsrParts, n_columns: int) -> PreparedCounts:
        """Prepare counts (M, n_columns) given by their rows for sums and products over all documents."""
        ...

    def gram_stream(self, V: Any) -> GramStream:
        """Start a sum of G_b'(G_b V) over blocks of rows, for V (N, k)."""
        ...

    def gram_rows(
        self,
        by_word: CsrParts,
        by_document: CsrParts,
        first: int,
        last: int,
        n_columns: int,
        n_jobs: int | None = None,
    ) -> FloatArray:
        """Rows ``first`` to ``last`` of W G, dense, for W (n, M) = G[:, words]' and G (M, n_columns)."""
        ...

    def squared_row_norms(
        self, by_word: CsrParts, by_document: CsrParts, diagonal: Any, places: Any, n_jobs: int | None = None
    ) -> FloatArray:
        """Squared norms of the rows of W G after entry ``places[i]`` of row i is replaced by ``diagonal[places[i]]``.

        W (n, M) and G (M, N) are as for :meth:`gram_rows`, ``places`` (n,) int64, and ``diagonal`` (N,), zero for
        words without documents.
        """
        ...

    def add_pair_sums(self, rows: CsrParts, weights: Any, d: Any, squares: Any, df: Any) -> tuple[Any, Any, Any]:
        """Add sums over documents m of weight w_m > 0: d_i += w h_mi, squares_i += w h_mi^2, df_i += 1.

        ``weights`` (M,); the accumulators ``d``, ``squares`` (float64) and ``df`` (int64) have N entries.
        """
        ...

    def negative_part(self, Y: Any, n_checked: int, *, n_jobs: int | None = None) -> NegativePart:
        """E of Y (N, K) with the ``n_checked`` rows to check first."""
        ...

    def project_to_cone(
        self, indptr: Any, partners: Any, normals: Any, start: Any, *, spare: float, n_jobs: int | None = None
    ) -> Any:
        """Project every row u of ``start`` (n, K) to its own cone {u : v_i . u >= 0}.

        Row t has the constraints v_i = ``normals[i]`` for i in ``partners[indptr[t]:indptr[t + 1]]`` (int64 and int32).
        Each holds with ``spare * |v_i| * |u|`` to spare, of which half may be used up by rounding. A row
        that goes to the apex of its cone, the zero vector, may miss a constraint by at most that.
        """
        ...

    def simplex_least_squares(self, G: Any, rhs: Any, n_jobs: int | None = None) -> Any:
        """Row i minimises w'Gw/2 - rhs_i'w over w >= 0, sum w = 1, to rounding.

        G (K, K) is a Gram matrix of entries up to about 2 that is positive definite on affinely independent vertices,
        as :func:`anchorwords.linalg.simplex.simplex_least_squares` scales it; ``rhs`` (n, K) is scaled likewise.
        """
        ...

    def expect(
        self, rows: CsrParts, B: Any, alpha: Any, gamma: Any, steps: int, n_jobs: int | None = None
    ) -> Expectation:
        """Repeat gamma <- alpha + v * (B'(x / (B v))), v = exp(digamma(gamma)) scaled to sum one, for each document x.

        ``B`` is (N, K); ``alpha`` (K,) and the accumulator ``gamma`` (M, K) are positive. Words of (almost) no probability
        are left out.
        """
        ...

    def gather(self, by_word: Any, ratio: Any, v: Any, B: Any, words: Any, n_jobs: int | None = None) -> Any:
        """Add B_ik sum_m ratio_mi v_mk to the accumulator ``words`` (N, K).

        ``by_word`` holds, for each word, its documents and the places of its entries in ``ratio``: indptr (int64), rows
        (int32) and places (int64).
        """
        ...

    def removal_losses(self, rows: CsrParts, B: Any, gamma: Any, background: Any, n_jobs: int | None = None) -> Any:
        """First-order loss (K,) of the log-likelihood without each topic.

        With w = gamma / sum gamma, p = B w and own_ik = w_k B_ik / p_i, topic k loses, for every document,
        sum_i x_i (own_ik - w_k) over words with own_ik <= 0.001, and over the others
        -sum_i x_i log(0.95 (1 - own_ik) / (1 - w_k + 1e-6) + 0.05 background_i / p_i).
        """
        ...

    def sparse_product(self, rows: CsrParts, V: Any, n_jobs: int | None = None) -> Any:
        """X V for X (M, N) given by its rows and V (N, k)."""
        ...

    def descend(self, P: Any, G: Any, W: Any, rounds: int, n_jobs: int | None = None) -> Any:
        """Coordinate descent of w'Gw/2 - P_i'w over w >= 0, from row i of the accumulator ``W`` (n, K), for each row.

        A round moves every coordinate, in order, to its minimum given the others. G (K, K) is symmetric; coordinates whose
        diagonal entry is not positive stay.
        """
        ...

    def compose(
        self, rows: CsrParts, topics: Any, chance: Any, prior: tuple[Any, Any, Any], n_jobs: int | None = None
    ) -> Proportions:
        """Topic proportions by penalised likelihood: see :mod:`anchorwords.infer.penalised` for the problem.

        ``topics`` (N, K) float32 holds the rows of B scaled to sum one, or zero for unknown words, ``chance`` (N,) what
        they were divided by, and ``prior`` alpha, penalties and parameters, (K,) each.
        """
        ...

    def word_table(
        self, kinds: npt.NDArray[np.uint8], rule: TokenRule, stop_words: tuple[bytes, ...] = ()
    ) -> WordTable:
        """An empty table; ``kinds`` (0x110000,) says what each character is, stop words get the first numbers."""
        ...

    def marks_in(self, text: bytes, bounds: npt.NDArray[np.int64], marks: tuple[bytes, ...]) -> npt.NDArray[np.int64]:
        """For each document text[bounds[i]:bounds[i + 1]], a number whose bit m is 1 if it holds mark m.

        There are at most 63 marks, and none is empty.
        """
        ...

    def parse_triples(self, text: bytes) -> tuple[npt.NDArray[np.int64], int, bool]:
        """Lines of three whole numbers up to 10^15: the triples, the complete lines, and whether a line is faulty.

        Parsing stops at a faulty line; blank lines are skipped.
        """
        ...
