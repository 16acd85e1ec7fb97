"""Topics to look at twice, of any model."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_n_jobs
from ..exceptions import InputError
from ..model import TopicFlag, as_topic_model
from ..refine.flagging import flags_of
from ..refine.sweep import Pieces
from ..sources.convert import in_columns, read_by
from .compositions import document_compositions
from .topic_words import ranking_for


def flag_topics(model: Any, X: Any, *, n_jobs: int | None = None) -> list[TopicFlag]:
    """Find topics that may be copies, mixtures or junk.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus
        Documents, such as those of the fit. A TextTopicModel also takes texts.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    list of TopicFlag
        Each has a ``kind``, the ids of its ``topics``, the columns of the ``words`` that show it, a ``value``, and
        ``sentence(vocabulary)``, which says what may be wrong and what can be done:

        - ``"copies"``: the weights of the words of two topics have a cosine above 0.7;
        - ``"two subjects"``: the first 20 words fall into two groups of at least 4 that occur together within, and not
          across, by 0.15 of the mean NPMI or more;
        - ``"incoherent"``: the mean NPMI of the first 10 words is below half the median of all topics, by more than the
          number of documents of the topic explains;
        - ``"few documents"``: the topic stands on fewer than 5 documents, and than a quarter of the median;
        - ``"apart"``: documents of the topic have less than 15% of other topics, where the median has 40% or more. That is
          what documents in another language look like, and copies of a template;
        - ``"template"``: of the documents with at least 4 of the first 10 words, more than 80% hold at least 7, where the
          median is below 50%. That is what headings, signatures and phrases that one source repeats look like.

        A model of the preset "readers" has its ``flags`` from the documents it was fitted to; the preset also mends what it
        can before that (see :class:`anchorwords.Refinement`).

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=500, n_words=200, n_topics=5, random_state=0).corpus
    >>> model = aw.AnchorTopicModel.from_preset("readers", 5).fit(corpus)
    >>> [flag.kind for flag in aw.flag_topics(model, corpus)]
    []
    """
    record, jobs = as_topic_model(model), check_n_jobs(n_jobs)
    source = in_columns(read_by(model, X), record.vocabulary, record.n_words)
    sums, squares, n_known = np.zeros(record.n_components), np.zeros(record.n_components), 0.0
    for weights, lengths in document_compositions(model, source, n_jobs=jobs):
        tokens = weights * lengths[:, None]
        sums += tokens.sum(axis=0)
        squares += (tokens**2).sum(axis=0)
        n_known += float(lengths.sum())
    if n_known == 0.0:
        raise InputError("no document holds a word the model knows: check that the vocabularies match.")
    carriers = sums**2 / np.maximum(squares, np.finfo(np.float64).tiny)
    listed = record.keyword_weights if ranking_for(record) == "keywords" else record.B
    assert listed is not None  # ranking_for
    return list(flags_of(Pieces(source, record.n_components), np.asarray(listed), record.A, carriers, record.ids))
