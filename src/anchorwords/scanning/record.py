"""The record of a scan: numbers of topics side by side, and which one to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..model import TopicModel
from ..provenance import ANY_WORD, AnchorThreshold
from ..records import TableRecord
from ..records.table import Table
from .directions import Directions
from .levels import Level
from .replication import Reproduced
from .shown import scan_tables


@dataclass(frozen=True, eq=False)
class Candidate:
    """One number of topics.

    Attributes
    ----------
    n_components : int
        K.
    metrics : dict of str to float
        By name, those asked for; nan where one has no value.
    reproduced : tuple of Reproduced
        A split of the documents each, none where they were not split.
    n_iter : int
        Steps of ENN.
    converged : bool
    heldout : tuple of float
        Held-out log-likelihood per token of each split.
    """

    n_components: int
    metrics: Mapping[str, float]
    reproduced: tuple[Reproduced, ...]
    n_iter: int
    converged: bool
    heldout: tuple[float, ...] = ()

    @property
    def heldout_log_likelihood(self) -> float:
        """Mean log-likelihood per held-out token by document completion; nan if documents were not split."""
        return float(np.mean(self.heldout)) if self.heldout else float("nan")

    @property
    def heldout_perplexity(self) -> float:
        """Exponential of minus the held-out log-likelihood per token."""
        return float(np.exp(-self.heldout_log_likelihood))

    @property
    def stability(self) -> float:
        """Mean similarity of the topics of two halves of the documents, nan where they were not split."""
        return float(np.mean([one.similarity.mean() for one in self.reproduced])) if self.reproduced else float("nan")

    @property
    def stability_error(self) -> float:
        """Standard error of it over topics."""
        if not self.reproduced or self.n_components < 2:
            return float("nan")
        by_topic = np.mean([np.sort(one.similarity) for one in self.reproduced], axis=0)
        return float(by_topic.std(ddof=1) / np.sqrt(self.n_components))

    @property
    def found_again(self) -> float:
        """Topics that both halves find, mean over splits; nan where documents were not split."""
        return float(np.mean([one.n_found for one in self.reproduced])) if self.reproduced else float("nan")

    @property
    def found_again_error(self) -> float:
        """Standard error of it: each topic is found again or not."""
        share = self.found_again / self.n_components
        return float(np.sqrt(self.n_components * share * (1.0 - share)))


@dataclass(frozen=True, eq=False, repr=False)
class Scan(TableRecord):
    """Numbers of topics side by side; see :func:`anchorwords.scan`.

    Attributes
    ----------
    n_components : tuple of int
        Numbers of topics, ascending.
    recommended : int or None
        The number of topics if the data support a single one, else None.
    levels : tuple of Level
        Numbers of topics to consider, coarsest first: name, number, rule, what is gained and lost. A single one if the
        data support one; empty if the documents were not split in halves.
    reasons : list of str
        Why, in plain sentences.
    eigenvalues : (largest number + 2,) array
        Of the co-occurrence, in descending order, as many as there are.
    directions : Directions or None
        Directions that both halves of the documents show; None where these were not split.
    candidates : tuple of Candidate
        One a number of topics.
    models : dict of int to TopicModel
        By number of topics, where they were to be kept.
    n_docs, n_words : int
        Documents with at least two tokens, and words that occur in them.
    anchor_threshold : AnchorThreshold
        In how many documents an anchor had to occur.
    """

    n_components: tuple[int, ...]
    recommended: int | None
    reasons: list[str]
    eigenvalues: FloatArray
    directions: Directions | None
    candidates: tuple[Candidate, ...]
    models: Mapping[int, TopicModel]
    n_docs: int
    n_words: int
    anchor_threshold: AnchorThreshold = ANY_WORD
    levels: tuple[Level, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row a number of topics, ready for any data frame.

        ``eigenvalue`` is the K-th of the co-occurrence, ``eigengap`` what it exceeds the next by and
        ``eigengap_ratio`` how many times it is the next; ``energy`` is the strength of the K-th direction in documents that
        had no part in finding it, ``noise`` what chance gives there. ``stability`` is the mean similarity of matched topics
        of two halves of the documents, ``found_again`` the number of those that share more than half of their probability.
        """
        return [self._row(candidate) for candidate in self.candidates]

    def __repr__(self) -> str:
        first, last, n = self.n_components[0], self.n_components[-1], len(self.n_components)
        numbers = f"{first} topics" if n == 1 else f"{n} numbers of topics from {first} to {last}"
        if self.recommended is not None:
            return f"Scan({numbers}, recommended {self.recommended})"
        levels = ", ".join(f"{level.name} {level.n_components}" for level in self.levels)
        return f"Scan({numbers}, {levels or 'no recommendation'})"

    def __str__(self) -> str:
        lines = [repr(self), *(f"- {reason}" for reason in self.reasons)]
        for level in self.levels:
            lines += [f"{level.name}: {level.n_components} topics ({level.why})",
                      f"    gained: {level.gained}", f"    lost:   {level.lost}"]  # fmt: skip
        return "\n".join(lines)

    def _tables(self, max_rows: int | None) -> list[Table]:
        return scan_tables(self, max_rows)

    def _row(self, candidate: Candidate) -> dict[str, Any]:
        K = candidate.n_components
        value = float(self.eigenvalues[K - 1])
        following = float(self.eigenvalues[K]) if self.eigenvalues.size > K else float("nan")
        row: dict[str, Any] = {
            "n_components": K,
            "recommended": self.recommended == K,
            "level": ", ".join(level.name for level in self.levels if level.n_components == K),
            "eigenvalue": value,
            "eigengap": value - following,
            "eigengap_ratio": value / following if following > 0.0 else float("nan"),
            "energy": float("nan"),
            "noise": float("nan"),
            "stability": candidate.stability,
            "stability_error": candidate.stability_error,
            "found_again": candidate.found_again,
            "heldout_log_likelihood": candidate.heldout_log_likelihood,
            "heldout_perplexity": candidate.heldout_perplexity,
        }
        if self.directions is not None and self.directions.energies.size >= K:
            row["energy"] = float(self.directions.energies[K - 1])
            row["noise"] = float(self.directions.noise_at([K - 1])[0])
        return row | dict(candidate.metrics) | {"n_iter": candidate.n_iter, "converged": candidate.converged}
