"""Verdicts on records made by hand."""

from __future__ import annotations

import re

import pytest

from anchorwords.reproduce.claim import Claim, verdict
from anchorwords.reproduce.claims import all_claims
from anchorwords.reproduce.claims_growth import STABLE, characteristic_words_add, stable_time, trend
from anchorwords.reproduce.claims_methods import (
    AGREES,
    JUDGED,
    ORDER,
    SLIGHTLY,
    STEADY,
    baseline_fails,
    faster_than_ap,
    near_ap,
    seeds_agree,
)

VERDICTS = {"agrees", "in part", "differs", "no data"}


def first(method, K=5, seed=0, corpus="c", n_words=100, seconds=1.0, **values):
    """A record of the first series; every metric is 1 but those given."""
    record = {
        "corpus": corpus, "n_words": n_words, "method": method, "n_components": K, "seed": seed, "seconds": seconds,
        "matrix_distance": 0.1, "topic_distance": 0.05, "common_anchors": K,
    }  # fmt: skip
    if seed:
        record |= {"seed_topic_distance": 1e-9, "seed_common_anchors": K}
    return record | dict.fromkeys(JUDGED, 1.0) | values


def second(n_words, value, K=5, corpus="c", name="metric", rectification=1.0, factorisation=0.0):
    return {
        "corpus": corpus, "n_words": n_words, "n_components": K, name: value,
        "seconds_rectification": rectification, "seconds_factorisation": factorisation,
    }  # fmt: skip


def whole(claim):
    """Everything a reader sees of a claim, checked for what must never be there."""
    assert isinstance(claim, Claim)
    assert claim.verdict in VERDICTS
    assert all(len(row) == len(claim.columns) for row in claim.rows)
    text = " ".join([claim.title, claim.rule, claim.summary, *(cell for row in claim.rows for cell in row)])
    assert not {"nan", "inf", "none"} & set(re.findall(r"[a-z]+", text.lower())), text
    return text


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [(4, 0, "agrees"), (3, 1, "agrees"), (2, 1, "in part"), (2, 2, "in part"), (1, 2, "differs"), (0, 4, "differs")],
)
def test_three_quarters_agree_and_half_do_in_part(right, wrong, expected):
    assert verdict([True] * right + [False] * wrong) == expected


def test_some_claims_have_to_hold_everywhere():
    assert verdict([True] * 9 + [False], enough=1.0) == "in part"
    assert verdict([True] * 10, enough=1.0) == "agrees"
    assert verdict([]) == verdict([], enough=1.0) == "no data"


def test_thresholds():
    """The rules that the report prints; a change of one is a decision."""
    assert (AGREES, SLIGHTLY, STEADY, ORDER, STABLE) == (0.05, 0.25, 0.01, 10.0, 0.5)


# -- near AP ----------------------------------------------------------------------------------------------------------


def near(*records, limit=0.05, methods=("ENN+LAW",)):
    return near_ap(records, methods, limit, "title")


def off_by(share, **rest):
    return first("ENN+LAW", **rest) | dict.fromkeys(JUDGED, 1.0 + share)


def test_near_ap_by_hand():
    values = dict(zip(JUDGED, (2.02, 1.98, 1.96, 2.12, 2.16), strict=True))  # 1, 1, 2, 6, 8 % off two
    claim = near(first("AP+AW", **dict.fromkeys(JUDGED, 2.0)), first("ENN+LAW", matrix_distance=0.25, **values))
    (row,) = claim.rows
    assert row[:3] == ["c", "100", "ENN+LAW"]
    assert row[3] == "2 %"
    assert row[4] == "8 %"
    assert row[5] == "0.25 to 0.25"
    assert row[7] == "100 to 100 %"
    assert claim.verdict == "agrees"


@pytest.mark.parametrize(("share", "expected"), [(0.0, "agrees"), (0.04, "agrees"), (0.06, "differs"), (3, "differs")])
def test_near_ap_is_within_its_limit(share, expected):
    claim = near(first("AP+AW"), off_by(share))
    assert claim.verdict == expected
    whole(claim)


def test_near_ap_has_to_hold_on_every_corpus():
    records = [first("AP+AW", corpus=corpus) for corpus in "ab"]
    claim = near(*records, off_by(0.0, corpus="a"), off_by(0.5, corpus="b"))
    assert claim.verdict == "in part"
    assert [row[0] for row in claim.rows] == ["a", "b"]


def test_near_ap_compares_the_same_k_and_the_first_seed():
    claim = near(first("AP+AW", K=5), off_by(0.0, K=5), off_by(9.0, K=10), off_by(9.0, K=5, seed=1))
    assert claim.verdict == "agrees"


def test_near_ap_without_ap_has_no_data():
    for records in ((), (off_by(0.0),), (first("AP+AW"),), (first("AP+AW", K=5), off_by(0.0, K=10))):
        claim = near(*records)
        assert (claim.verdict, claim.rows) == ("no data", [])


def test_near_ap_leaves_out_what_is_undefined():
    ap = first("AP+AW") | {JUDGED[0]: None, JUDGED[1]: 0.0}
    claim = near(ap, off_by(0.03) | {JUDGED[2]: None})
    assert claim.rows[0][3:5] == ["3 %", "3 %"]
    whole(claim)
    everything = near(first("AP+AW", **dict.fromkeys(JUDGED)), off_by(0.0))
    assert everything.verdict == "no data"


# -- the baseline -----------------------------------------------------------------------------------------------------


def baseline(error=1.0, specificity=1.0, K=5, **enn):
    raw = "relative_approximation_raw"
    return [
        first("Baseline", K, specificity=specificity, **{raw: error}), first("ENN+LAW", K, **enn),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "specificity", "fails"),
    [(1.0, 1.0, False), (1.9, 0.6, False), (3.0, 1.0, True), (1.0, 0.4, True), (9.0, 0.1, True)],
)
def test_a_baseline_fails_by_error_or_by_specificity(error, specificity, fails):
    claim = baseline_fails(baseline(error, specificity))
    assert claim.verdict == ("agrees" if fails else "differs")
    assert claim.rows[0][-1] == f"{int(fails)} of 1"
    whole(claim)


def test_a_baseline_that_fails_at_half_the_k():
    claim = baseline_fails(baseline(9.0) + baseline(1.0, K=10))
    assert claim.verdict == "in part"
    assert claim.rows[0] == ["c", "100", "1 to 9", "1 to 1", "1 to 1", "1 to 1", "1 of 2"]
    assert "1 of 2" in claim.summary


def test_a_baseline_without_a_pair_has_no_data():
    for records in ([], [first("Baseline")], [first("ENN+LAW")], [first("Baseline", 5), first("ENN+LAW", 10)]):
        assert baseline_fails(records).verdict == "no data"


@pytest.mark.parametrize("name", ["relative_approximation_raw", "specificity"])
@pytest.mark.parametrize("method", ["Baseline", "ENN+LAW"])
@pytest.mark.parametrize("value", [None, 0.0])
def test_a_baseline_with_undefined_or_zero_metrics(name, method, value):
    records = [record | {name: value} if record["method"] == method else record for record in baseline(3.0, 0.4)]
    whole(baseline_fails(records))


def test_an_undefined_metric_of_one_k_leaves_the_others():
    undefined = [record | {"specificity": None} for record in baseline(1.0, K=10)]
    claim = baseline_fails(baseline(9.0) + undefined)
    whole(claim)
    assert claim.verdict in {"agrees", "in part"}  # 1 of 1, or 1 of 2 by its errors


# -- seeds ------------------------------------------------------------------------------------------------------------


def seeds(*values, K=5, **rest):
    return [first("LR-JSMF", K, seed, **dict.fromkeys(JUDGED, value), **rest) for seed, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [((1.0, 1.0, 1.0), "agrees"), ((0.995, 1.005), "agrees"), ((0.95, 1.05), "differs"), ((1.0,), "no data")],
)
def test_seeds_agree_within_a_hundredth(values, expected):
    claim = seeds_agree(seeds(*values))
    assert claim.verdict == expected
    whole(claim)


def test_seeds_by_hand():
    claim = seeds_agree(seeds(0.96, 1.04) + seeds(1.0, 1.0, K=10))
    (row,) = claim.rows
    assert row[:3] == ["c", "100", "2"]
    # 0.04 as the population's standard deviation, 0.04 * sqrt(2) as the sample's.
    assert 0.039 < float(row[4]) < 0.0571
    assert row[5:] == ["1.0e-09", "2 of 2"]
    assert claim.verdict == "differs"


def test_seeds_that_agree_on_one_corpus():
    claim = seeds_agree(seeds(1.0, 1.0, corpus="a") + seeds(0.5, 1.5, corpus="b"))
    assert claim.verdict == "in part"


def test_seeds_with_undefined_or_zero_metrics():
    for value in (None, 0.0):
        records = [record | {JUDGED[0]: value} for record in seeds(1.0, 1.0)]
        claim = seeds_agree(records)
        assert claim.verdict == "agrees"
        whole(claim)
    assert seeds_agree(seeds(None, None)).verdict == "no data"
    assert seeds_agree([]).verdict == seeds_agree([first("ENN+LAW")]).verdict == "no data"


def test_other_anchors_are_counted():
    records = seeds(1.0, 1.0, 1.0)
    records[2]["seed_common_anchors"] = 4
    assert seeds_agree(records).rows[0][-1] == "1 of 2"


# -- times ------------------------------------------------------------------------------------------------------------


def times(ap, enn, lr, K=5, corpus="c"):
    return [
        first(method, K, corpus=corpus, seconds=value)
        for method, value in (("AP+AW", ap), ("ENN+LAW", enn), ("LR-JSMF", lr))
    ]


@pytest.mark.parametrize(
    ("measured", "expected"),
    [((10.0, 0.5, 0.1), "agrees"), ((10.0, 0.5, 5.0), "in part"), ((10.0, 5.0, 20.0), "differs")],
)
def test_one_order_of_magnitude(measured, expected):
    claim = faster_than_ap(times(*measured))
    assert claim.verdict == expected
    whole(claim)


def test_times_by_hand():
    claim = faster_than_ap(times(10.0, 0.5, 0.1) + times(30.0, 1.0, 0.3, K=10))
    assert [row[2:] for row in claim.rows] == [
        ["ENN+LAW", "10 to 30", "0.5 to 1", "25", "20 to 30"],
        ["LR-JSMF", "10 to 30", "0.1 to 0.3", "100", "100 to 100"],
    ]
    assert "20 to 100 times" in claim.summary
    assert "median 65" in claim.summary  # of 20, 30, 100, 100


def test_large_numbers_are_written_out():
    text = whole(faster_than_ap(times(1234.0, 300.0, 100.0))) + whole(near(first("AP+AW"), off_by(1.5)))
    assert "e+" not in text, text


def test_palm_is_shown_but_not_judged():
    claim = faster_than_ap([*times(10.0, 0.1, 0.1), first("PALM+LAW", seconds=100.0)])
    assert claim.verdict == "agrees"
    assert [row[2] for row in claim.rows] == ["ENN+LAW", "LR-JSMF", "PALM+LAW"]


def test_a_method_slower_than_ap_is_not_zero_times_as_fast():
    claim = faster_than_ap(times(1.0, 4.0, 4.0))
    assert claim.rows[0][5] != "0"
    assert not re.search(r"\b0 (to|times)", whole(claim))


def test_no_time_at_all():
    whole(faster_than_ap(times(1.0, 0.0, 0.5)))
    whole(faster_than_ap(times(0.0, 0.0, 0.0)))


def test_times_without_ap_have_no_data():
    assert faster_than_ap([]).verdict == faster_than_ap([first("LR-JSMF")]).verdict == "no data"


# -- growing vocabularies ---------------------------------------------------------------------------------------------


def line(values, **rest):
    return [second(100 * (i + 1), value, **rest) for i, value in enumerate(values)]


@pytest.mark.parametrize("rises", [True, False])
def test_a_trend_goes_one_way(rises):
    up, down = line([1.0, 2.0, 4.0]), line([4.0, 2.0, 1.0])
    assert trend(up, "metric", rises, "title").verdict == ("agrees" if rises else "differs")
    assert trend(down, "metric", rises, "title").verdict == ("differs" if rises else "agrees")
    both = up + [record | {"corpus": "d"} for record in down]
    claim = trend(both, "metric", rises, "title")
    assert claim.verdict == "in part"
    assert "1 of 2" in claim.summary


def test_a_trend_by_hand():
    records = line([1.0, 5.0, 3.0, 8.0], K=5) + line([3.0, 7.0, 5.0, 10.0], K=25) + line([0.0] * 4, K=27)
    claim = trend(records, "metric", True, "title")
    # Means 2, 6, 4, 9 of K = 5 and 25, of which 27 has no part; ranks 1 3 2 4: 1 - 6 * 2 / (4 * 15) = 0.8.
    assert claim.rows == [["c", "5-25", "2", "9", "+0.80"]]


def test_a_trend_of_each_group_is_a_line():
    records = [record for K in (5, 30, 55, 80) for record in line([1.0, 2.0], K=K)]
    claim = trend(records, "metric", True, "title")
    assert [row[1] for row in claim.rows] == ["5-25", "30-50", "55-75", "80-100"]
    assert claim.verdict == "agrees"


def test_a_constant_line_goes_nowhere():
    for rises in (True, False):
        claim = trend(line([3.0, 3.0, 3.0]), "metric", rises, "title")
        assert claim.verdict == "differs"
        whole(claim)


def test_a_trend_with_gaps():
    claim = trend(line([1.0, None, 3.0]), "metric", True, "title")
    assert claim.rows == [["c", "5-25", "1", "3", "+1.00"]]
    for records in ([], line([1.0]), line([None, None, None]), line([None, 1.0]), line([1.0, 2.0], K=3)):
        claim = trend(records, "metric", True, "title")
        assert (claim.verdict, claim.rows) == ("no data", [])
        whole(claim)
    assert trend(line([1.0, 2.0], name="other"), "metric", True, "title").verdict == "no data"


def clock(power, corpus="c", scale=1.0):
    return [
        second(n, None, corpus=corpus, rectification=scale * n**power / 2, factorisation=scale * n**power / 2)
        for n in (100, 200, 400, 800)
    ]


@pytest.mark.parametrize(
    ("power", "expected"), [(-0.5, "agrees"), (0.0, "agrees"), (0.4, "agrees"), (0.6, "differs"), (2.0, "differs")]
)
def test_stable_times_grow_slowly(power, expected):
    claim = stable_time(clock(power))
    assert claim.verdict == expected
    assert float(claim.rows[0][-1]) == pytest.approx(power, abs=0.005)  # printed to two places
    assert claim.rows[0][2] == "8.0"
    whole(claim)


def test_stable_times_by_hand():
    claim = stable_time(clock(1.0, "a", 0.01) + clock(0.0, "b"))
    assert claim.verdict == "in part"
    assert claim.rows == [["a", "5-25", "8.0", "1", "8", "1.00"], ["b", "5-25", "8.0", "1", "1", claim.rows[1][-1]]]
    assert abs(float(claim.rows[1][-1])) < 0.005
    assert stable_time([]).verdict == "no data"


def test_times_of_zero_do_not_break_it():
    records = clock(0.2)
    records[0] |= {"seconds_rectification": 0.0, "seconds_factorisation": 0.0}
    whole(stable_time(records))
    whole(stable_time([record | {"seconds_rectification": 0.0, "seconds_factorisation": 0.0} for record in records]))


# -- words ------------------------------------------------------------------------------------------------------------


def table(prominent, specific, anchors=(3,), corpus="c"):
    """A table of one topic, all of whose 4 characteristic words but the specific ones are prominent."""
    return {
        "corpus": corpus,
        "n_words": 1234,
        "rows": [
            {
                "characteristic": ["w"] * 4, "prominent_documents": list(prominent),
                "specific_documents": list(specific), "anchor_documents": anchor,
            }
            for anchor in anchors
        ],
    }  # fmt: skip


def test_words_that_are_rarer_add():
    claim = characteristic_words_add([table([100, 50, 80], [10, 30], anchors=(3, 5))])
    assert claim.verdict == "agrees"
    assert claim.rows == [["c", "1,234", "50 %", "80", "20", "4"]]
    whole(claim)


def test_words_that_add_nothing():
    assert characteristic_words_add([table([10], [100])]).verdict == "differs"  # more frequent
    nothing = characteristic_words_add([table([10], [])])
    assert nothing.verdict == "differs"
    assert nothing.rows[0][2] == "0 %"
    whole(nothing)
    half = characteristic_words_add([table([10], [100]), table([100], [10])])
    assert half.verdict == "in part"
    assert "1 of 2" in half.summary
    assert characteristic_words_add([]).verdict == "no data"


def test_words_of_empty_topics():
    empty = table([], [])
    empty["rows"][0]["characteristic"] = []
    whole(characteristic_words_add([empty]))
    whole(characteristic_words_add([table([0], [0])]))


# -- all --------------------------------------------------------------------------------------------------------------


def test_nothing_run_nothing_said():
    claims = all_claims([], [], [])
    assert len(claims) == 10
    assert {claim.verdict for claim in claims} == {"no data"}
    for claim in claims:
        whole(claim)
        assert claim.title
        assert claim.rule


def test_a_world_as_the_paper_has_it():
    records = [
        first("Baseline", relative_approximation_raw=50.0), first("AP+AW", seconds=100.0), first("ENN+LAW", seconds=2.0),
        first("PALM+LAW", seconds=3.0) | dict.fromkeys(JUDGED, 1.1), *seeds(1.0, 1.0, seconds=1.0),
    ]  # fmt: skip
    grown = [
        second(n, None) | {"log_relative_volume": n, "relative_recovery": 1.0 / n, "mst_incoherence": 1.0 / n}
        for n in (100, 200, 300)
    ]
    claims = all_claims(records, grown, [table([100], [10])])
    assert [claim.verdict for claim in claims] == ["agrees"] * 10
    turned = [
        record | {"log_relative_volume": -n, "relative_recovery": n, "mst_incoherence": n, "seconds_rectification": n}
        for record in grown for n in [record["n_words"]]
    ]  # fmt: skip
    far = dict.fromkeys(JUDGED, 9.0)
    worse = [
        first("Baseline", **far), first("AP+AW", seconds=1.0), first("ENN+LAW", seconds=2.0, **far),
        first("PALM+LAW", **far), *seeds(9.0, 5.0, seconds=2.0),
    ]  # fmt: skip
    claims = all_claims(worse, turned, [table([10], [100])])
    assert [claim.verdict for claim in claims] == ["differs"] * 10
