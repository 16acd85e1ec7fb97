"""How a rectification approached its answer, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import InputError
from .style import GREY, legend_text, own_axes, series_style, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..rectify.result import Rectified

_NAMES = {
    "change": "relative change of the iterate",
    "violation": "violation (what the stop rule looks at)",
    "objective": "objective",
}


def convergence(
    rectified: Rectified | Mapping[str, Rectified], *, ax: Axes | None = None, quantity: str = "violation"
) -> Axes:
    """Draw the history of one or more rectifications (Algorithms 2 to 4) on a logarithmic scale.

    Parameters
    ----------
    rectified : Rectified or dict of str to Rectified
        Several are drawn as one line each, named by their keys.
    ax : matplotlib Axes, optional
        Where to draw; by default on a figure of its own.
    quantity : {"violation", "change", "objective"}
        What each step reported. Violations of different methods are in different measures (see each method).

    Returns
    -------
    matplotlib Axes
        The last step is marked: by a dot where it ended as asked (the stop rule was met, or with ``tol=0`` the steps were
        made), by a cross where the limit on steps ended it before.
        Values that a logarithm cannot show (zero, negative, NaN) are left out.
    """
    if quantity not in _NAMES:
        raise InputError(f"quantity must be one of {', '.join(_NAMES)}, but is {quantity!r}.")
    if not rectified:
        raise InputError("there is nothing to draw: give a Rectified, or several by name.")
    from ..rectify.result import Rectified  # not up there: it brings scikit-learn

    runs = {rectified.method.upper(): rectified} if isinstance(rectified, Rectified) else dict(rectified)
    with style():
        from matplotlib.ticker import MaxNLocator

        axes = own_axes(ax, 3.6, 2.6)
        axes.set_yscale("log")
        drawn = [_draw(axes, i, name, run, quantity) for i, (name, run) in enumerate(runs.items())]
        axes.set_xlabel("iteration")
        axes.set_ylabel(_NAMES[quantity])
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlim(0, 1.05 * max((run.n_iter for run in runs.values()), default=1))
        if not any(drawn):
            axes.text(0.5, 0.4, "no values", transform=axes.transAxes, ha="center", color=GREY)
        axes.legend(loc="best", handlelength=3.5)
    return axes


def _draw(ax: Axes, i: int, name: str, run: Rectified, quantity: str) -> bool:
    """Whether there was anything to draw."""
    values = np.array([getattr(step, quantity) for step in run.history], dtype=np.float64)
    steps = np.arange(1, values.size + 1)
    shown = np.isfinite(values) & (values > 0.0)
    look = series_style(i)
    # Where a number of steps was the rule, it was met: that is not to be called converged.
    how = "" if run.converged else ", not converged"
    unit = "step" if run.n_iter == 1 else "steps"
    ax.plot(steps[shown], values[shown], color=look["color"], linestyle=look["linestyle"],
            marker=look["marker"], markevery=max(1, int(shown.sum()) // 8), markersize=3.0,
            label=legend_text(f"{name}: {run.n_iter} {unit}{how}"))  # fmt: skip
    if shown.any():
        last = np.flatnonzero(shown)[-1]
        ax.plot(steps[last], values[last], color=look["color"], marker="o" if run.converged else "x", markersize=5.5,
                markeredgewidth=1.5, linestyle="", clip_on=False, zorder=5)  # fmt: skip
    return bool(shown.any())
