"""The definitions of the metrics written out: dense matrices, loops over documents, words and topics, no shortcuts.

Every function returns the value of the model and the array of its topics' values. Written from the paper's section 5 and
the definitions in the documentation, not from the package's code.
"""

from __future__ import annotations

from itertools import combinations, permutations
from math import log, log2, sqrt

import numpy as np
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.linalg.pivoted import pivot_rows

# ---- problems


def eq1(X):
    """Eq. 1, document by document."""
    X = np.asarray(X, dtype=float)
    total, kept = np.zeros((X.shape[1], X.shape[1])), 0
    for h in X:
        n = h.sum()
        if n >= 2:
            total += (np.outer(h, h) - np.diag(h)) / (n * (n - 1))
            kept += 1
    return total / kept


def random_counts(seed: int, M=60, N=30, shape=0.4):
    """Sparse counts in which every word occurs beside another one, with an empty document and one of one token."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(shape, size=N), size=(M, N))
    X[np.arange(N) % (M - 2), np.arange(N)] += 1
    X[np.arange(N) % (M - 2), (np.arange(N) + 1) % N] += 1
    X[M - 2] = 0
    X[M - 1] = 0
    X[M - 1, 0] = 1
    return X


def random_model(seed: int, C, K=4, vocabulary=None, zeros=0.0) -> aw.TopicModel:
    """A valid record that fits nothing: what the formulas say of it depends on every part. Y Y' is non-negative."""
    rng = np.random.default_rng([seed, 99])
    N = C.shape[0]
    occurs = C.sum(axis=1) > 0
    anchors = rng.permutation(np.flatnonzero(occurs))[:K]
    B = rng.gamma(0.3, size=(N, K)) * (rng.random((N, K)) >= zeros) + 1e-9 * (zeros == 0.0)
    B[anchors, np.arange(K)] += 0.1
    B[~occurs] = 0.0
    A = rng.gamma(0.5, size=(K, K)) + 0.01
    A = A + A.T + 2 * np.diag(rng.random(K))
    Bt = rng.dirichlet(np.full(K, 0.5), size=N)
    Bt[anchors] = np.eye(K)
    Y = rng.gamma(0.5, size=(N, K)) * occurs[:, None]
    Y[occurs] += 1e-3
    Y /= np.linalg.norm(Y.sum(axis=0))
    p = (Y @ Y.sum(axis=0)) / np.sum(Y.sum(axis=0) ** 2)
    rows = C[anchors] / C[anchors].sum(axis=1, keepdims=True)
    return aw.TopicModel(
        B / B.sum(axis=0), A / A.sum(), 1.7, anchors, Bt, p, vocabulary, Y, sp.csr_array(rows)
    )  # fmt: skip


def cut(X, size):
    X = sp.csr_array(X)
    return [X[i : i + size] for i in range(0, X.shape[0], size)]


# ---- metrics


def recovery(model, C):
    p = C.sum(axis=1)
    words = [i for i in range(len(p)) if p[i] > 0]
    Cbar = {i: C[i] / p[i] for i in words}
    error = {
        i: sqrt(
            sum((Cbar[i] - sum(b * Cbar[s] for b, s in zip(model.word_topics[i], model.anchors, strict=True))) ** 2)
        )
        for i in words
    }
    K = model.n_components
    whole = sum(error.values()) / len(words)
    weight = [sum(model.word_topics[i, k] for i in words) for k in range(K)]
    topics = [sum(model.word_topics[i, k] * error[i] for i in words) / weight[k] for k in range(K)]
    return whole, np.array(topics)


def relative_recovery(model, C):
    p = C.sum(axis=1)
    size = sqrt(sum(((C[i] / p[i]) ** 2).sum() for i in range(len(p)) if p[i] > 0))
    whole, topics = recovery(model, C)
    return whole / size, topics / size


def approximation(model, C, factor=1.0):
    squares = ((C - factor * model.B @ model.A @ model.B.T) ** 2).sum(axis=1)
    return sqrt(squares.sum()), np.sqrt(model.word_topics.T @ squares)


def relative_approximation(model, C, factor=1.0):
    whole, topics = approximation(model, C, factor)
    return whole / np.linalg.norm(C), topics / np.sqrt(model.word_topics.T @ (C**2).sum(axis=1))


def mean(values):
    values = np.array(values, dtype=float)
    return float(np.mean(values[~np.isnan(values)])), values


def relative_dominancy(model):
    return mean([model.A[k, k] / sqrt((model.A**2).sum()) for k in range(model.n_components)])


def dominancy(model):
    return mean([model.A[k, k] / sum(model.A[k]) for k in range(model.n_components)])


def specificity(model, C):
    p = C.sum(axis=1)
    return mean(
        [sum(b * log2(b / max(q, 2.0**-52)) for b, q in zip(column, p, strict=True) if b > 0) for column in model.B.T]
    )


def tops(model, n):
    """Words of positive probability, largest first, ties in order of column."""
    return [sorted((i for i in range(len(b)) if b[i] > 0), key=lambda i, b=b: (-b[i], i))[:n] for b in model.B.T]


def dissimilarity(model, n=20):
    lists = tops(model, n)
    others = [set().union(*lists[:k], *lists[k + 1 :]) for k in range(len(lists))]
    return mean([sum(word not in other for word in top) for top, other in zip(lists, others, strict=True)])


def topic_diversity(model, n=25):
    lists = tops(model, n)
    topics = [sum(1 / sum(word in other for other in lists) for word in top) / len(top) for top in lists]
    return len(set().union(*lists)) / sum(len(top) for top in lists), np.array(topics)


def entropy(model):
    return mean([-sum(b * log2(b) for b in column if b > 0) for column in model.B.T])


def sparsity(model):
    n = int((model.word_probs > 0).sum())
    if n == 1:
        return mean([1.0] * model.n_components)
    return mean([(sqrt(n) - sum(b) / sqrt(sum(b**2))) / (sqrt(n) - 1) for b in model.B.T])


def documents(X, *words):
    """Documents that hold all of these words, counted one by one."""
    return sum(all(document[word] > 0 for word in words) for document in np.asarray(X).tolist())


def npmi_coherence(model, X, n=10):
    D, topics = len(np.asarray(X)), []
    for top in tops(model, n):
        scores = []
        for i, j in combinations(top, 2):
            p_i, p_j, p_ij = documents(X, i) / D, documents(X, j) / D, documents(X, i, j) / D
            scores.append(-1.0 if p_ij == 0 else 1.0 if p_ij == 1 else log(p_ij / (p_i * p_j)) / -log(p_ij))
        topics.append(sum(scores) / len(scores) if scores else np.nan)
    return mean(topics)


def umass_coherence(model, X, n=20):
    topics = []
    for top in tops(model, n):
        pairs = [(top[worse], top[better]) for worse in range(len(top)) for better in range(worse)]
        score = sum(log((documents(X, i, j) + 1) / documents(X, j)) for i, j in pairs)
        topics.append(score if pairs else np.nan)
    return mean(topics)


def edge(C, p, i, j):
    if C[i, j] <= 0:
        return 1.0
    return (1 - log(C[i, j] / (p[i] * p[j])) / -log(C[i, j])) / 2


def kruskal(n, weight):
    """Weight of the minimum spanning tree of a complete graph."""
    group, total = list(range(n)), 0.0
    for i, j in sorted(combinations(range(n), 2), key=lambda pair: weight(*pair)):
        if group[i] != group[j]:
            total += weight(i, j)
            group = [group[i] if g == group[j] else g for g in group]
    return total


def mst_incoherence(model, C, n=7):
    p, topics = C.sum(axis=1), []
    rows = model.anchor_rows.toarray()
    for prominent, row in zip(tops(model, n), rows, strict=True):
        positive = [i for i in range(len(row)) if row[i] > 0]
        characteristic = sorted(positive, key=lambda i, row=row: (-row[i], i))[:n]
        nodes = sorted(set(prominent) | set(characteristic))
        topics.append(kruskal(len(nodes), lambda i, j, nodes=nodes: edge(C, p, nodes[i], nodes[j])))
    return mean(topics)


def log_volume(vertices):
    """Logarithm of (K - 1)! times the volume of a simplex, by Cayley and Menger's determinant of distances."""
    K = len(vertices)
    D = np.ones((K + 1, K + 1))
    D[0, 0] = 0.0
    for i, j in permutations(range(K), 2):
        D[i + 1, j + 1] = ((vertices[i] - vertices[j]) ** 2).sum()
    D[np.arange(1, K + 1), np.arange(1, K + 1)] = 0.0
    sign, value = np.linalg.slogdet(D)
    assert sign == (-1) ** K
    return (value - (K - 1) * log(2)) / 2


def random_hull(rows, K):
    """Log volume of the hull of the pivots of column-pivoted QR on the transposed rows, by singular values."""
    pivots = pivot_rows(rows, K).indices
    vertices = rows[pivots]
    return float(np.log(np.linalg.svd(vertices[1:] - vertices[0], compute_uv=False)).sum())


def everything(model, X, rectified=None):
    """name -> (value, topics) of every metric but the volumes."""
    C = eq1(X)
    R = model.Y @ model.Y.T if rectified is None else rectified
    return {
        "recovery": recovery(model, R),
        "relative_recovery": relative_recovery(model, R),
        "recovery_original": recovery(model, C),
        "relative_recovery_original": relative_recovery(model, C),
        "approximation": approximation(model, C),
        "relative_approximation": relative_approximation(model, C),
        "approximation_raw": approximation(model, C, model.A_raw_sum),
        "relative_approximation_raw": relative_approximation(model, C, model.A_raw_sum),
        "approximation_rectified": approximation(model, R),
        "relative_approximation_rectified": relative_approximation(model, R),
        "relative_dominancy": relative_dominancy(model),
        "dominancy": dominancy(model),
        "specificity": specificity(model, C),
        "dissimilarity": dissimilarity(model),
        "mst_incoherence": mst_incoherence(model, C),
        "npmi_coherence": npmi_coherence(model, X),
        "umass_coherence": umass_coherence(model, X),
        "topic_diversity": topic_diversity(model),
        "entropy": entropy(model),
        "sparsity": sparsity(model),
        "A_raw_sum": (model.A_raw_sum, model.A_raw_sum * model.A.sum(axis=1)),
    }
