"""Scans as drawn."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from anchorwords.exceptions import InputError
from anchorwords.plot import save
from anchorwords.plot.scan import scan as draw
from anchorwords.scanning.scan import scan


@pytest.fixture(scope="module")
def scanned(sampled):
    return scan(sampled.corpus, (2, 3, 5, 8))


def test_panels(scanned):
    figure = draw(scanned)
    assert [ax.get_title().split("\n")[0] for ax in figure.axes] == [
        "Strength of the K-th direction", "Topics that replicate", "Held-out perplexity",
        "NPMI coherence", "Topic diversity", "Dissimilarity",
    ]  # fmt: skip
    strength, found, perplexity, coherence, *_ = figure.axes
    values, energies, noise = strength.lines[:3]
    np.testing.assert_array_equal(values.get_ydata(), scanned.eigenvalues)
    np.testing.assert_array_equal(energies.get_ydata()[:5], scanned.directions.energies[:5])
    np.testing.assert_allclose(noise.get_ydata(), scanned.directions.noise_at(range(noise.get_ydata().size)))
    rows = scanned.rows()
    assert found.lines[0].get_xdata().tolist() == [2, 3, 5, 8]
    assert found.lines[0].get_ydata().tolist() == [row["n_replicated"] for row in rows]
    assert coherence.lines[0].get_ydata().tolist() == [row["npmi_coherence"] for row in rows]
    assert perplexity.lines[0].get_ydata().tolist() == [row["heldout_perplexity"] for row in rows]
    for ax in figure.axes:
        assert list(ax.lines[-1].get_xdata()) == [scanned.recommended, scanned.recommended]
        assert ax.texts[-1].get_text() == f"recommended {scanned.recommended}"
    figure.canvas.draw()


def test_other_metrics(scanned):
    assert len(draw(scanned, metrics=[]).axes) == 3
    figure = draw(scanned, metrics=["specificity", "dissimilarity", "npmi_coherence"])
    assert len(figure.axes) == 6  # three by halves, and three metrics
    assert figure.axes[3].get_title() == "Specificity\n(higher is better)"
    with pytest.raises(InputError, match="has not measured 'entropy': draw some of npmi_coherence, topic_diversity"):
        draw(scanned, metrics=["entropy"])


@pytest.mark.parametrize("numbers", [(4,), (1, 2)])
def test_few_numbers_and_no_halves(tmp_path, sampled, numbers):
    figure = draw(scan(sampled.corpus, numbers, n_replicates=0, metrics=["topic_diversity"]))
    assert len(figure.axes) == 2
    assert save(figure, tmp_path / "scan.svg")[0].stat().st_size > 1000


def test_nan_values_are_left_out(sampled):
    words = sampled.corpus.counts[:, :1].toarray()
    figure = draw(scan(words, 1))  # one word: no pair, no coherence
    figure.canvas.draw()


def test_plausible_numbers_are_a_band(sampled):
    found = scan(sampled.corpus, (2, 3, 5, 8))
    several = dataclasses.replace(found, recommended=None, plausible=(3, 5), levels=())
    figure = draw(several)
    for ax in figure.axes:
        assert [list(line.get_xdata()) for line in ax.lines[-2:]] == [[3, 3], [5, 5]]
        assert ax.texts[-1].get_text() == "plausible 3 or 5"
    figure.canvas.draw()
