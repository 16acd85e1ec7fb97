"""Text of users, files, and what is left behind."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import anchorwords as aw
from anchorwords import plot
from anchorwords.exceptions import InputError
from anchorwords.plot import style
from anchorwords.plot.style import plain, save

from .conftest import ODD_WORDS

SENTENCE = r"^plotting needs matplotlib: pip install 'anchorwords\[plot\]'$"


def test_text_is_shown_as_it_is():
    assert plain("plain") == "plain"
    assert plain("a$b$") == r"a\$b\$"
    assert plain("a\x07b\nc") == "a\ufffdb\ufffdc"
    assert plain("a\nb", lines=True) == "a\nb"
    assert plain("\ud800") == "\ufffd"
    assert plain("a\u202eb") == "a\ufffdb"
    assert plain("x" * 60, 10) == "x" * 9 + "…"
    assert plain(7) == "7"
    assert style.legend_text("_x") == " _x"


def test_styles_differ_in_each_way():
    looks = [style.series_style(i) for i in range(5)]
    for part in ("color", "marker", "linestyle"):
        assert len({str(look[part]) for look in looks}) == 5


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_files_are_the_same_bytes_every_time(model_of, tmp_path, suffix):
    words = [*ODD_WORDS, *(f"w{i}" for i in range(50))]
    figures = [plot.cooccurrence_space(model_of(60, 6, words=words)).figure for _ in range(2)]
    written = [save(figures[i], tmp_path / f"{i}-{j}{suffix}")[0].read_bytes() for i in (0, 1) for j in (0, 1)]
    assert len(set(written)) == 1
    assert b"CreationDate" not in written[0]
    assert b"dc:date" not in written[0]


def test_without_suffix_both(model_of, tmp_path):
    figure = plot.cooccurrence_space(model_of(30, 3)).figure
    files = save(figure, tmp_path / "new" / "figure")
    assert [file.name for file in files] == ["figure.svg", "figure.png"]
    assert files[0].read_bytes().startswith(b"<?xml")
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in files[0].parent.iterdir()) == ["figure.png", "figure.svg"]
    with pytest.raises(InputError, match=r"ends in \.jpg"):
        save(figure, tmp_path / "a.jpg")


def test_written_whole_or_not_at_all(model_of, tmp_path, monkeypatch):
    figure = plot.cooccurrence_space(model_of(30, 3)).figure
    (tmp_path / "a.svg").write_text("before")
    render = style._rendered

    def fail_on_png(figure, suffix, dpi):
        if suffix == ".png":
            raise OSError("no")
        return render(figure, suffix, dpi)

    monkeypatch.setattr(style, "_rendered", fail_on_png)
    with pytest.raises(OSError, match="no"):
        save(figure, tmp_path / "a")
    assert (tmp_path / "a.svg").read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["a.svg"]


def test_large_clouds_stay_small_files(tmp_path):
    xy = np.random.default_rng(0).normal(size=(100_000, 2))
    figure = plot.spaces([{"xy": xy, "anchors": [0, 1, 2]}])
    assert save(figure, tmp_path / "cloud.svg")[0].stat().st_size < 500_000


def test_leaves_nothing_behind(model_of):
    import matplotlib

    before = dict(matplotlib.rcParams)
    plot.cooccurrence_space(model_of(30, 3))
    plot.topic_correlation(model_of(30, 3))
    assert dict(matplotlib.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_missing_matplotlib_is_one_sentence(model_of, monkeypatch):
    model = model_of(30, 3)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    records = [{"corpus": "a", "method": "b", "n_components": 5, "n_words": 9, "m": 1.0}]
    tree = SimpleNamespace(topic=0, words=("a",), kinds=("both",), anchor="a", edges=(), weight=0.0)
    for draw in (
        lambda: plot.cooccurrence_space(model),
        lambda: plot.topic_correlation(model),
        lambda: plot.metric_curves(records, ["m"]),
        lambda: plot.vocabulary_curves(records, ["m"]),
        lambda: plot.convergence({"a": aw.Rectified("enn", None, None, True, ())}),
        lambda: plot.topic_tree(tree),
        lambda: plot.spaces([{"xy": [[0.0, 0.0]], "anchors": [0]}]),
    ):
        with pytest.raises(InputError, match=SENTENCE):
            draw()
    assert plot.space_coordinates(model).usable.all()


def test_importing_needs_no_matplotlib():
    script = (
        "import sys; sys.modules['matplotlib'] = None; import anchorwords.plot as p; [getattr(p, n) for n in p.__all__]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert plot.__all__ == sorted(plot.__all__)


def test_no_warning_when_a_user_draws_odd_words(model_of):
    words = [*ODD_WORDS, *(f"w{i}" for i in range(2))]
    model = model_of(12, 12, words=words)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot.cooccurrence_space(model, label=12, title="$t$ 🙂").figure.canvas.draw()
        plot.topic_correlation(model).figure.canvas.draw()
        records = [{"corpus": w, "method": w, "n_components": 5, "m": 1.0} for w in ODD_WORDS[:3]]
        plot.metric_curves(records, ["m"], labels={"m": "$m"}).canvas.draw()
