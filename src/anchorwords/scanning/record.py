"""The record of a scan: numbers of topics side by side, and which of them the data support."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..model import TopicModel
from ..provenance import ANY_WORD, AnchorThreshold
from ..records import TableRecord
from ..records.table import Table, counted
from .directions import Directions
from .levels import Level
from .replication import Reproduced
from .shown import scan_tables
from .wording import spoken


@dataclass(frozen=True, eq=False)
class Candidate:
    """One number of topics.

    Attributes
    ----------
    n_components : int
        K.
    metrics : dict of str to float
        Values of the requested metrics by name; nan if a metric is undefined.
    reproduced : tuple of Reproduced
        One per split of the documents; empty if they were not split.
    n_iter : int
        Steps of ENN.
    converged : bool
        Whether ENN converged.
    heldout : tuple of float
        Held-out log-likelihood per token, one value per split.
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
        """Mean similarity of matched topics of two halves of the documents; nan if they were not split."""
        return float(np.mean([one.similarity.mean() for one in self.reproduced])) if self.reproduced else float("nan")

    @property
    def stability_error(self) -> float:
        """Standard error of the stability over topics."""
        if not self.reproduced or self.n_components < 2:
            return float("nan")
        by_topic = np.mean([np.sort(one.similarity) for one in self.reproduced], axis=0)
        return float(by_topic.std(ddof=1) / np.sqrt(self.n_components))

    @property
    def n_replicated(self) -> float:
        """Number of topics that replicate in both halves, mean over splits; nan if the documents were not split."""
        return float(np.mean([one.n_found for one in self.reproduced])) if self.reproduced else float("nan")

    @property
    def n_replicated_error(self) -> float:
        """Standard error of that number: each topic replicates or does not, a binomial variable."""
        share = self.n_replicated / self.n_components
        return float(np.sqrt(self.n_components * share * (1.0 - share)))


@dataclass(frozen=True, eq=False, repr=False)
class Scan(TableRecord):
    """Numbers of topics side by side; see :func:`anchorwords.scan`.

    Attributes
    ----------
    n_components : tuple of int
        Numbers of topics scanned, in ascending order.
    recommended : int or None
        The number of topics if the data single one out, else None.
    plausible : tuple of int
        The numbers of topics that the data support but do not distinguish: only the recommended one if there is one, a few
        neighbouring numbers such as (19, 20, 21), or empty if the data do not narrow the choice.
    levels : tuple of Level
        Numbers of topics to consider, in ascending order, each with its name, the rule that selects it, and what is
        better and worse there. These are the plausible numbers if there are any, else up to three levels of detail
        (coarse, medium, fine); empty if the documents were not split into halves, or if only one number was scanned.
    reasons : list of str
        The reasons in plain sentences.
    eigenvalues : (largest number + 2,) array
        Leading eigenvalues of the co-occurrence, in descending order, as many as there are.
    directions : Directions or None
        Directions of the co-occurrence that replicate in both halves of the documents; None if these were not split.
    candidates : tuple of Candidate
        One for each number of topics.
    models : dict of int to TopicModel
        Models by number of topics, if ``keep_models`` was set.
    n_docs, n_words : int
        Number of documents with at least two tokens, and of words that occur in them.
    anchor_threshold : AnchorThreshold
        The number of documents that an anchor had to occur in.
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
    plausible: tuple[int, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row per number of topics, ready for any data frame.

        ``eigenvalue`` is the K-th eigenvalue of the co-occurrence, ``eigengap`` its difference from the next and
        ``eigengap_ratio`` its ratio to the next. ``energy`` is the strength of the K-th direction in documents that were not
        used to find it, and ``noise`` the strength that noise has there. ``stability`` is the mean similarity of matched
        topics of two halves of the documents, and ``n_replicated`` the number of topics that share more than half of their
        probability with their match.
        """
        return [self._row(candidate) for candidate in self.candidates]

    def __repr__(self) -> str:
        first, last, n = self.n_components[0], self.n_components[-1], len(self.n_components)
        numbers = f"{first} topics" if n == 1 else f"{n} numbers of topics from {first} to {last}"
        if self.recommended is not None:
            return f"Scan({numbers}, recommended {self.recommended})"
        if self.plausible:
            return f"Scan({numbers}, plausible {spoken(self.plausible)})"
        levels = ", ".join(f"{level.name} {level.n_components}" for level in self.levels)
        return f"Scan({numbers}, {levels or 'no recommendation'})"

    def __str__(self) -> str:
        lines = [repr(self), *(f"- {reason}" for reason in self.reasons)]
        for level in self.levels:
            lines += [f"{level.name}: {counted(level.n_components, 'topic')} ({level.why})", *level.comparison()]
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
            "plausible": K in self.plausible,
            "level": ", ".join(level.name for level in self.levels if level.n_components == K),
            "eigenvalue": value,
            "eigengap": value - following,
            "eigengap_ratio": value / following if following > 0.0 else float("nan"),
            "energy": float("nan"),
            "noise": float("nan"),
            "stability": candidate.stability,
            "stability_error": candidate.stability_error,
            "n_replicated": candidate.n_replicated,
            "heldout_log_likelihood": candidate.heldout_log_likelihood,
            "heldout_perplexity": candidate.heldout_perplexity,
        }
        if self.directions is not None and self.directions.energies.size >= K:
            row["energy"] = float(self.directions.energies[K - 1])
            row["noise"] = float(self.directions.noise_at([K - 1])[0])
        return row | dict(candidate.metrics) | {"n_iter": candidate.n_iter, "converged": candidate.converged}
