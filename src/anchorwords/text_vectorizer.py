"""Raw texts to counts as a scikit-learn transformer: our compiled reader with its two rules."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._typing import SparseLike
from .corpus.corpus import Corpus
from .corpus.duplicates import Duplicates
from .corpus.like import Reading
from .corpus.read import read_chosen, read_corpus
from .corpus.vocabulary_rule import Described, VocabularyRule, stop_words_in_ngrams
from .exceptions import InputError

_READING = (
    "lowercase", "ngrams", "min_length", "max_length", "numbers", "tokenizer", "cleaning", "phrases", "vocabulary", "n_jobs",
)  # fmt: skip
_CHOOSING = ("stop_words", "min_df", "max_df", "n_words", "keep_words")


class TextVectorizer(TransformerMixin, BaseEstimator):
    """Turn texts into a sparse matrix of word counts.

    The text is cleaned and split by compiled code (see :func:`read_corpus`), and the words are chosen by the rule that gives
    readable topics (see :class:`VocabularyRule`). It can take the place of scikit-learn's ``CountVectorizer``.

    Parameters
    ----------
    stop_words : str, path, list of them, or None, default="auto"
        Words to remove: the name of a language, a file with one word per line, words, or a list of these, which add up.
        "auto" is English for texts and nothing for lists of tokens.
    ngrams : (int, int) or int, default=(1, 1)
        Shortest and longest n-grams to count; their words are joined by spaces. A number is the longest.
    lowercase : bool, default=True
        Convert text to lower case.
    min_length, max_length : int, default=2, 100
        Fewest and most characters of a word.
    numbers : bool, default=False
        Also count tokens that contain no letters.
    tokenizer : callable, optional
        Function from a text to its words: needed for scripts without spaces between words.
    cleaning : Cleaning or bool, default=True
        What to remove from text before it is split, such as web addresses and HTML tags; False removes nothing.
    phrases : bool, default=False
        Count phrases, pairs of words that occur together far more often than by chance, as one word.
    min_df, max_df : int, float or "auto", default="auto"
        Fewest and most documents in which a word may occur: an int counts documents, a float is a share of them. "auto" is,
        for texts, 5 documents or a fifth of the square root of their number, and half of the documents.
    n_words : int, None or "auto", default="auto"
        Number of words to keep, the best by tf-idf; None keeps all. "auto" is 50,000 for texts.
    keep_words : list of str, optional
        Words to keep regardless of the conditions above.
    min_tokens, min_types : int, default=5, 3
        Fewest tokens and distinct words of a document that a :class:`TextTopicModel` learns from. The vectoriser itself
        leaves out no document.
    drop_duplicates : bool, default=False
        Let a :class:`TextTopicModel` learn from the first of several documents that are the same, or nearly so; see
        :meth:`Corpus.drop_duplicates`.
    vocabulary : path or list of str, optional
        The only words to count, in column order.
    n_jobs : int or None, default=None
        Threads; None uses all cores. Results do not depend on it.

    Attributes
    ----------
    vocabulary_ : dict
        Column of each word.
    text_rule_ : TextRule or None
        How the texts were split into words; None for lists of tokens.
    vocabulary_rule_ : VocabularyRule
        Which words were kept.
    tokenized_ : bool
        Whether the documents were lists of tokens.
    dropped_ : Dropped
        How many words and documents that removed, by reason.
    duplicates_ : Duplicates or None
        Which documents repeat others, if ``drop_duplicates`` left them out.

    Examples
    --------
    >>> from anchorwords import TextVectorizer
    >>> texts = ["The cat sat on the mat.", "A cat and a dog: see https://example.org", "Dogs chase cats."]
    >>> vectorizer = TextVectorizer(min_df=1, max_df=1.0, min_tokens=1, min_types=1)
    >>> vectorizer.fit_transform(texts).shape
    (3, 7)
    >>> vectorizer.get_feature_names_out()
    array(['cat', 'cats', 'chase', 'dog', 'dogs', 'mat', 'sat'], dtype=object)
    """

    duplicates_: Duplicates | None

    def __init__(
        self,
        *,
        stop_words: Any = "auto",
        ngrams: tuple[int, int] | int = (1, 1),
        lowercase: bool = True,
        min_length: int = 2,
        max_length: int = 100,
        numbers: bool = False,
        tokenizer: Any = None,
        cleaning: Any = True,
        phrases: bool = False,
        min_df: float | str = "auto",
        max_df: float | str = "auto",
        n_words: int | str | None = "auto",
        keep_words: Any = None,
        min_tokens: int = 5,
        min_types: int = 3,
        drop_duplicates: bool = False,
        vocabulary: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.stop_words = stop_words
        self.ngrams = ngrams
        self.lowercase = lowercase
        self.min_length = min_length
        self.max_length = max_length
        self.numbers = numbers
        self.tokenizer = tokenizer
        self.cleaning = cleaning
        self.phrases = phrases
        self.min_df = min_df
        self.max_df = max_df
        self.n_words = n_words
        self.keep_words = keep_words
        self.min_tokens = min_tokens
        self.min_types = min_types
        self.drop_duplicates = drop_duplicates
        self.vocabulary = vocabulary
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Choose the words.

        Parameters
        ----------
        X : list of str, Series, path, data frame, or Corpus
            Texts, or anything that :func:`read_corpus` reads.
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X, {}, every_document=True)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> SparseLike:  # noqa: ARG002
        """Choose the words and return the counts of all documents, documents x words."""
        whole, _ = self._fit(X, {}, every_document=True)
        return self._columns(whole)

    def transform(self, X: Any) -> SparseLike:
        """Return the counts of the words that were chosen, documents x words, a row for every document.

        Parameters
        ----------
        X : list of str, Series, path, data frame, or Corpus
            Text is split as it was for the fit.
        """
        check_is_fitted(self)
        if isinstance(X, Corpus):
            return self._columns(X)
        like = Reading(self.text_rule_, list(self.vocabulary_), self.tokenized_)
        if not like.is_known:
            return self._columns(self.read(X, like=like))
        return read_corpus(refused_if_text(X), like=like, tokenizer=self.tokenizer, n_jobs=self.n_jobs).counts

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Return the words, in column order."""
        check_is_fitted(self)
        return np.array(list(self.vocabulary_), dtype=object)

    def read(self, X: Any, **reading: Any) -> Corpus:
        """Read documents with all of their words, by the options of reading of this vectoriser.

        Parameters
        ----------
        X : list of str, Series, path, data frame, or Corpus
            A Corpus is returned as it is.
        **reading
            Where documents are found, as for :func:`read_corpus`: ``format``, ``text_column``, ``columns``, ...
        """
        if isinstance(X, Corpus):
            if reading:
                raise InputError(
                    f"a Corpus has been read already, but {', '.join(reading)} says how to read documents."
                )
            return X
        return read_corpus(refused_if_text(X), **self._reading(reading))

    def fit_corpus(self, X: Any, **reading: Any) -> tuple[Corpus, Corpus]:
        """Read documents and choose their words.

        Returns
        -------
        whole : Corpus
            All documents; words that were not chosen may be missing.
        pruned : Corpus
            The documents that are long enough, with the words that were chosen.
        """
        return self._fit(X, reading)

    def _fit(self, X: Any, reading: dict[str, Any], *, every_document: bool = False) -> tuple[Corpus, Corpus]:
        if not isinstance(self.drop_duplicates, bool):
            raise InputError(f"drop_duplicates must be True or False, but is {self.drop_duplicates!r}.")
        in_one_go = not isinstance(X, Corpus) and self.vocabulary is None
        if not in_one_go or (self.drop_duplicates and not every_document):
            whole = self.read(X, **reading)
            return whole, self.choose_words(whole, every_document=every_document)
        given = self._given() | self._length(every_document)

        def rule_for(described: Described) -> VocabularyRule:
            return VocabularyRule.for_corpus(described, **given)

        whole, pruned = read_chosen(refused_if_text(X), rule_for, **self._reading(reading))
        self._adopt_corpus(pruned)
        return whole, pruned

    def _reading(self, others: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of :func:`read_corpus`: those that say how to split text, and others."""
        if twice := [name for name in others if name in (*_READING, "stop_words")]:
            raise InputError(
                f"{', '.join(twice)}: how text is split is said by the vectorizer, as in TextVectorizer(...)."
            )
        said = {} if _is_auto(self.stop_words) else {"stop_words": self.stop_words}
        options = {name: getattr(self, name) for name in _READING}
        stop_words = stop_words_in_ngrams(self.ngrams, **said, phrases=self.phrases)
        return options | {"stop_words": stop_words} | others

    def choose_words(self, corpus: Corpus, *, every_document: bool = False) -> Corpus:
        """Choose the words of a corpus, as ``fit`` does.

        Parameters
        ----------
        corpus : Corpus
            If its words were chosen before, only what is asked for here is removed as well.
        every_document : bool
            Keep all documents: repeated ones, and those that are too short.

        Returns
        -------
        Corpus
            Pruned to the words that were chosen, and to documents to learn from.
        """
        given = self._given() | self._length(every_document)
        repeated = None if every_document or not self.drop_duplicates else corpus.duplicates()
        distinct = corpus if repeated is None else corpus[~repeated.repeats]
        if corpus.vocabulary_rule is None and self.vocabulary is None:
            pruned = distinct.prune(rule=VocabularyRule.for_corpus(distinct, **given))
        elif any(given.values()):
            pruned = distinct.prune(rule=VocabularyRule.checked(**({"min_tokens": 0, "min_types": 0} | given)))
        else:
            pruned = distinct
        if distinct is not corpus and pruned is not distinct:
            pruned = pruned.counted_from(distinct)
        self._adopt_corpus(pruned)
        self.duplicates_ = repeated
        return pruned

    def _length(self, every_document: bool) -> dict[str, Any]:
        """Return the arguments of :meth:`Corpus.prune` that remove documents."""
        return {"min_tokens": 0, "min_types": 0} if every_document else self._given(("min_tokens", "min_types"))

    def _adopt_corpus(self, corpus: Corpus) -> None:
        self.adopt(corpus.vocabulary, corpus.text_rule, corpus.vocabulary_rule, corpus.dropped, corpus.tokenized)

    @property
    def says_how_to_choose(self) -> bool:
        """Whether words are chosen by anything other than the default rule."""
        return bool(self._given() | self._given(("min_tokens", "min_types", "drop_duplicates")))

    def _given(self, names: tuple[str, ...] = _CHOOSING) -> dict[str, Any]:
        """Return the arguments of :meth:`Corpus.prune` that are not the default."""
        default = type(self)()
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value != getattr(default, name)}

    def adopt(
        self,
        vocabulary: tuple[str, ...],
        text_rule: Any,
        vocabulary_rule: Any,
        dropped: Any = None,
        tokenized: bool = False,
    ) -> Self:
        """Take words and rules that were chosen before, as if fitted."""
        self.vocabulary_ = {word: column for column, word in enumerate(vocabulary)}
        self.text_rule_, self.tokenized_ = text_rule, tokenized
        self.vocabulary_rule_, self.dropped_ = vocabulary_rule, dropped
        self.duplicates_ = None
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as a dict for JSON, with the tokenizer as its name."""
        from .corpus.cleaning import Cleaning
        from .corpus.stopwords import stop_entries
        from .corpus.text_rule import TextRule

        given = self.get_params(deep=False)
        words = given["vocabulary"]
        return given | {
            "stop_words": "auto" if _is_auto(given["stop_words"]) else sorted(stop_entries(given["stop_words"])),
            "ngrams": given["ngrams"] if isinstance(given["ngrams"], int) else list(given["ngrams"]),
            "tokenizer": TextRule.checked(tokenizer=given["tokenizer"]).to_dict()["tokenizer"],
            "cleaning": Cleaning.of(given["cleaning"]).to_dict(),
            "keep_words": None if given["keep_words"] is None else list(given["keep_words"]),
            "vocabulary": None if words is None else list(self.vocabulary_),
        }

    @classmethod
    def from_dict(cls, record: Any) -> Self:
        """Return the vectoriser that :meth:`to_dict` described, not fitted; ValueError if it is invalid."""
        from .corpus.cleaning import Cleaning

        if not isinstance(record, dict) or not set(record) <= set(cls._get_param_names()):
            raise ValueError("its vectoriser has other parameters")
        known = dict(record)
        known["tokenizer"] = None  # nothing that a file names is imported: it has to be given again
        if isinstance(known.get("stop_words"), list):
            known["stop_words"] = frozenset(known["stop_words"])  # words, and entries for languages
        if "cleaning" in known:
            known["cleaning"] = Cleaning.from_dict(known["cleaning"])
        if isinstance(known.get("ngrams"), list):
            known["ngrams"] = tuple(known["ngrams"])
        return cls(**known)

    def _columns(self, corpus: Corpus) -> SparseLike:
        """Return the counts of a corpus in the columns of the words that were chosen."""
        from .sources.convert import in_columns

        words = tuple(self.vocabulary_)
        return in_columns(corpus, words, len(words)).counts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def refused_if_text(X: Any) -> Any:
    """Return the documents; InputError if they are a single text that is no path."""
    if isinstance(X, str) and ("\n" in X or len(X) > 1000 or (" " in X and not os.path.exists(X))):
        raise InputError("documents must be a list of texts or a path that exists, but are one text: put it in a list.")
    return X
