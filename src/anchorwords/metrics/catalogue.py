"""Every metric: its name, formula, direction, what it is measured on, and how to read it.

Documentation, figures, the command line and the explorer take it from here.
"""

from __future__ import annotations

from typing import NamedTuple


class Metric(NamedTuple):
    """What there is to know of a metric.

    Attributes
    ----------
    name : str
        Key in what :func:`anchorwords.evaluate` returns.
    title : str
        The paper's or the field's name.
    formula : str
    better : str
        "lower", "higher", or "" for a diagnostic that has no better end.
    measured_on : str
        The statistics or documents it needs beside the model.
    per_topic : str
        What stands under ``per_topic``.
    reading : str
        What it asks, how to read a value, and what to beware of, for those who have never heard of it.
    """

    name: str
    title: str
    formula: str
    better: str
    measured_on: str
    per_topic: str
    reading: str = ""

    @property
    def direction(self) -> str:
        """The direction in words."""
        return f"{self.better} is better" if self.better else "diagnostic"


_RECTIFIED = "rectified C (Y Y'), in K dimensions"
_ORIGINAL = "original C of the given documents"
_WORD_SHARE = "mean over words weighted by p(topic given word)"
_ROW_SHARE = "the same over rows of C, each shared out by p(topic given word)"
_TERM = "the term of topic k"
_RECOVERY = "mean_i |Cbar_i - Bt_i Cbar_S|_2"

METRICS: tuple[Metric, ...] = (
    Metric(
        "relative_recovery",
        "RelativeRecovery",
        f"{_RECOVERY} / |Cbar|_F",
        "lower",
        _RECTIFIED,
        _WORD_SHARE,
        reading="Is each word's company (the words it occurs with) a mix of the company of the anchors, the words that "
        "stand for topics? 0 is a perfect mix. Asked of the counts as the fit cleaned them; compare on the same "
        "words.",
    ),
    Metric(
        "relative_recovery_original",
        "RelativeRecovery, original",
        f"{_RECOVERY} / |Cbar|_F",
        "lower",
        _ORIGINAL,
        _WORD_SHARE,
        reading="Is each word's company (the words it occurs with) a mix of the company of the anchors, the words that "
        "stand for topics? 0 is a perfect mix, which noise in the counts rules out; compare on the same "
        "documents.",
    ),
    Metric(
        "recovery",
        "Recovery",
        _RECOVERY,
        "lower",
        _RECTIFIED,
        _WORD_SHARE,
        reading="How far, on average, is a word's company (the words it occurs with) from the model's mix of the "
        "anchors' company? Anchors are words that stand for topics; 0 is no distance. Asked of the counts as the fit "
        "cleaned them.",
    ),
    Metric(
        "recovery_original",
        "Recovery, original",
        _RECOVERY,
        "lower",
        _ORIGINAL,
        _WORD_SHARE,
        reading="How far, on average, is a word's company (the words it occurs with) from the model's mix of the "
        "anchors', the words that stand for topics? From 0, no distance, to 1.4; noisy rare words count as much "
        "as any.",
    ),
    Metric(
        "relative_approximation",
        "RelativeApproximation",
        "|C - B A B'|_F / |C|_F, A normalised",
        "lower",
        _ORIGINAL,
        _ROW_SHARE,
        reading="How far are the pairs of words that the topics predict from those in the documents? 0 is perfect, 1 no "
        "better than predicting nothing. Frequent words count most, and noise keeps it above 0.",
    ),
    Metric(
        "relative_approximation_raw",
        "RelativeApproximation, raw A",
        "|C - B A B'|_F / |C|_F, A as the anchors give it",
        "lower",
        _ORIGINAL,
        _ROW_SHARE,
        reading="How far are predicted pairs of words from those in the documents, with the topics' correlations not yet "
        "scaled to sum to 1? 0 is perfect, 1 no better than predicting nothing; far above 1 the anchor words do "
        "not fit.",
    ),
    Metric(
        "relative_approximation_rectified",
        "RelativeApproximation, rectified",
        "|C - B A B'|_F / |C|_F, A normalised",
        "lower",
        _RECTIFIED,
        _ROW_SHARE,
        reading="How far are the pairs of words that the topics predict from the counts as the fit cleaned them of noise?"
        " 0 is perfect, 1 no better than predicting nothing. Frequent words count most.",
    ),
    Metric(
        "approximation",
        "Approximation",
        "|C - B A B'|_F, A normalised",
        "lower",
        _ORIGINAL,
        _ROW_SHARE,
        reading="How far are the pairs of words that the topics predict from those in the documents? 0 is perfect. The "
        "scale is that of these documents: between collections compare the relative one.",
    ),
    Metric(
        "approximation_raw",
        "Approximation, raw A",
        "|C - B A B'|_F, A as the anchors give it",
        "lower",
        _ORIGINAL,
        _ROW_SHARE,
        reading="How far are predicted pairs of words from those in the documents, with the topics' correlations not yet "
        "scaled to sum to 1? 0 is perfect. The scale is these documents' own: else compare the relative one.",
    ),
    Metric(
        "approximation_rectified",
        "Approximation, rectified",
        "|C - B A B'|_F, A normalised",
        "lower",
        _RECTIFIED,
        _ROW_SHARE,
        reading="How far are the pairs of words that the topics predict from the counts as the fit cleaned them of noise?"
        " 0 is perfect. The scale is that of these counts: between collections compare the relative one.",
    ),
    Metric(
        "relative_dominancy",
        "RelativeDominancy",
        "mean_k A_kk / |A|_F",
        "lower",
        "the model alone",
        _TERM,
        reading="Do topics keep to themselves? Lower is more mixing within documents; where none mix it is up to 1 over "
        "the square root of the number of topics, so compare at the same number. Some collections do mix little.",
    ),
    Metric(
        "dominancy",
        "Dominancy",
        "mean_k A_kk / sum_l A_kl",
        "lower",
        "the model alone",
        _TERM,
        reading="If a word of a document is of some topic, how likely is another one to be of the same? From 0 to 1, "
        "where topics never mix. Lower shows more of how topics relate, but some collections do mix little.",
    ),
    Metric(
        "specificity",
        "Specificity",
        "mean_k KL(B_k || p) in bits, p = C e",
        "higher",
        _ORIGINAL,
        _TERM,
        reading="How much does a topic differ from the words of all documents together, in bits? 0 is not at all, and "
        "such a topic says nothing; 0.5 to 6 in the paper's collections, more with more topics. Compare on the "
        "same words.",
    ),
    Metric(
        "dissimilarity",
        "Dissimilarity",
        "mean number of a topic's top 20 words that are in no other topic's top 20",
        "higher",
        "the model alone",
        _TERM,
        reading="How many of a topic's 20 most probable words are in no other topic's 20? From 0, topics that repeat "
        "each other, to 20. It usually falls as topics are added.",
    ),
    Metric(
        "log_relative_volume",
        "LogRelativeVolume",
        "ln V - ln mean V_rand: hull of the anchors against hulls of K pivots among min(N, 20 K) uniform rows",
        "higher",
        _RECTIFIED,
        "distance of the anchor from the hull of the others",
        reading="How large a space do the anchors, the words that stand for topics, span beside random points? A natural "
        "logarithm: 0 is as large, 1 is 2.7 times. Compare at the same number of topics; odd rare words span much"
        " too.",
    ),
    Metric(
        "log_relative_volume_all_rows",
        "LogRelativeVolume, all rows",
        "the same with all N rows drawn (N up to 5,000)",
        "higher",
        _RECTIFIED,
        "distance of the anchor from the hull of the others",
        reading="How large a space do the anchors, the words that stand for topics, span beside the widest of as many "
        "random points as there are words? A natural logarithm: 0 is as large, 1 is 2.7 times. Odd rare words "
        "span much too.",
    ),
    Metric(
        "mst_incoherence",
        "MST-Incoherence",
        "weight of the minimum spanning tree over 7 prominent and 7 characteristic words, edges (1 - NPMI) / 2",
        "lower",
        _ORIGINAL,
        _TERM,
        reading="Do pairs seen together link a topic's 7 most probable words and the 7 most seen with its anchor word? A "
        "link costs 0 (always together), 0.5 (as by chance) to 1 (never): at most 13 in all, less where both "
        "lists agree.",
    ),
    Metric(
        "npmi_coherence",
        "NPMI coherence",
        "mean NPMI of pairs of the top 10 words, unsmoothed, never together = -1",
        "higher",
        "boolean documents of the given corpus",
        _TERM,
        reading="Are the first 10 words of a topic, as it is listed, found in the same documents? -1 is never, 0 as often "
        "as by chance, 1 always; 0.1 to 0.6 in the paper's collections. Topics that repeat each other score well too.",
    ),
    Metric(
        "umass_coherence",
        "UMass coherence",
        "sum of ln((D_ij + 1) / D_j) over pairs of the top 20 words, mean over topics",
        "higher",
        "boolean documents of the given corpus",
        _TERM,
        reading="Do documents with one of the first 20 words of a topic hold the others too? A sum over pairs: about 0"
        " is best, -150 to -450 usual in the paper's collections. Common words score well, though they say "
        "little.",
    ),
    Metric(
        "topic_diversity",
        "Topic diversity",
        "distinct share of the top 25 words of all topics",
        "higher",
        "the model alone",
        "mean over its words of 1 / number of topics that list the word",
        reading="What share of the first 25 words of all topics are different ones? 1 is that topics share no "
        "word; 1 over the number of topics is that all are alike. It usually falls as topics are added.",
    ),
    Metric(
        "entropy",
        "Entropy",
        "mean_k -sum_i B_ik log2 B_ik, in bits",
        "",
        "the model alone",
        _TERM,
        reading="Over how many words does a topic spread? 2 to the power of this is how many equally probable words would"
        " spread alike: 8 bits are 256 words. Neither end is better: a topic may be narrow or broad.",
    ),
    Metric(
        "sparsity",
        "Sparsity",
        "mean_k (sqrt(n) - |B_k|_1 / |B_k|_2) / (sqrt(n) - 1), n words that occur; Hoyer's",
        "",
        "the model alone",
        _TERM,
        reading="Does a topic put its weight on few words? 0 is evenly on all words, 1 is all on one. Neither end is "
        "better: a topic may be narrow or broad.",
    ),
    Metric(
        "A_raw_sum",
        "Sum of raw A",
        "e'Ae before A is normalised: near 1 where the statistics fit the model",
        "",
        "the model alone",
        "sum of the topic's row",
        reading="Do the anchors, the words that stand for topics, fit the documents? Then the shares of pairs of topics "
        "sum to 1 before they are scaled to; far from 1 they do not. Refined topics have 1 by definition: it "
        "tells nothing.",
    ),
)

BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}


def sureness_metrics(n_replicates: int, n_shards: int, level: float) -> list[Metric]:
    """What is known of a model whose stability was measured, in the company of the metrics.

    ``stability`` is one of all topics, too; the others only each topic has. Names are those under ``per_topic``.
    """
    measured_on = f"{n_replicates} replicates of {n_shards} shards"
    share = f"{100 * level:g}%"
    others = "Had other documents of the same kind been collected"
    interval = f"from end to end, the interval holds the true share in about {share} of collections like this."
    return [
        Metric(
            "stability", "Stability", "1 - total variation", "higher", measured_on, "of the topic and its match",
            f"{others}, how much of a topic would be there again? From 0 to 1, which is all of it; often two thirds. "
            "Compare topics: the least sure rest on few documents or on chance.",
        ),
        Metric(
            "stable_words", "Words kept", "share of the top 10", "higher", measured_on, "by its match",
            f"{others}, what share of a topic's 10 most probable words would be among them again? From 0 to 1; often "
            "0.6. Where it is low, read nothing into single words.",
        ),
        Metric(
            "anchor_stability", "Anchor kept", "share of replicates", "higher", measured_on, "by its match",
            f"{others}, how often would the same word stand for the topic, as its anchor? From 0 to 1; often 0.2 to 0.4, "
            "and no harm where the topic itself is stable.",
        ),
        Metric(
            "prevalence_low", f"Share, {share} interval, from", "p(topic)", "", measured_on, "of the topic",
            f"The topic's share may be as small as this: {interval}",
        ),
        Metric(
            "prevalence_high", f"Share, {share} interval, to", "p(topic)", "", measured_on, "of the topic",
            f"The topic's share may be as large as this: {interval}",
        ),
    ]  # fmt: skip
