"""Pictures of what was found; they need matplotlib (``pip install subspectra[plot]``)."""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError("pictures need matplotlib; install it with: pip install 'subspectra[plot]'") from missing
    return plt.subplots(layout="constrained")[1]


def _whole_sizes(ax: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def plot_path(path: Any, ax: Any = None) -> Any:
    """The objective by size, and where it is known how much better a set could be at most.

    Parameters
    ----------
    path : Path
        Of an estimator or of ``select``.
    ax : matplotlib axes, default None
        Where to draw; new ones where it is None.

    Returns
    -------
    matplotlib axes
    """
    ax = _axes(ax)
    sizes = [record["k"] for record in path]
    ax.plot(sizes, [record["objective"] for record in path], "o-", ms=4, label="objective")
    bounded = [record for record in path if record.get("upper_bound") is not None]
    if bounded:
        k, upper = [r["k"] for r in bounded], [r["upper_bound"] for r in bounded]
        ax.plot(k, upper, "_", ms=10, color="0.4", label="upper bound")
        ax.fill_between(k, [r["objective"] for r in bounded], upper, alpha=0.2)
        proven = [r for r in bounded if r.get("certified")]
        if proven:
            ax.plot([r["k"] for r in proven], [r["objective"] for r in proven], "o", ms=8, mfc="none", color="C2", label="proven")
    _whole_sizes(ax)
    ax.set_xlabel("features")
    ax.set_ylabel("objective")
    ax.legend()
    return ax


def plot_error(evaluation: Any, ax: Any = None) -> Any:
    """Cross-validated error against size, a curve a method, with standard errors and the size that was chosen.

    Parameters
    ----------
    evaluation : dict
        An evaluation result: of ``evaluate``, or ``evaluation_`` of an estimator.
    """
    ax = _axes(ax)
    rows = [row for row in evaluation["results"] if row["k"] is not None]
    for number, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = [row for row in rows if row["method"] == method]
        ax.errorbar(
            [r["k"] for r in own],
            [r["error"] for r in own],
            [r["stderr"] for r in own],
            fmt="o-",
            ms=3,
            capsize=2,
            color=f"C{number}",
            label=method,
        )
        for choice in evaluation.get("chosen", []):
            if choice["method"] == method and choice["k_one_standard_error"]:
                ax.axvline(choice["k_one_standard_error"], color=f"C{number}", ls=":", lw=1)
    trivial = [choice["trivial_error"] for choice in evaluation.get("chosen", []) if choice.get("trivial_error") is not None]
    if trivial:
        ax.axhline(trivial[0], color="0.6", lw=1, label="always the largest class")
    _whole_sizes(ax)
    ax.set_xlabel("features")
    ax.set_ylabel("error on held-out rows")
    ax.legend()
    return ax


class PlotMixin:
    """The pictures of an estimator."""

    def plot_path(self, ax: Any = None) -> Any:
        """The objective by size with its bounds; see :func:`subspectra.plots.plot_path`."""
        return plot_path(self.path_, ax)  # type: ignore[attr-defined]

    def plot_error(self, ax: Any = None) -> Any:
        """The error by size that chose ``k``; there is one after a fit with ``k="cv"`` or several sizes."""
        if getattr(self, "evaluation_", None) is None:
            raise ValueError("no size was chosen by cross-validation; fit with k='cv' or a range, or use subspectra.evaluate")
        return plot_error(self.evaluation_, ax)

    def plot_features(self, ax: Any = None, most: int = 30) -> Any:
        """The weights of the features, or the sizes of their coefficients: the largest `most` as bars."""
        ax = _axes(ax)
        if hasattr(self, "weights_"):
            size = np.abs(self.weights_)
        elif hasattr(self, "coef_"):
            size = np.linalg.norm(self.coef_, axis=0)
        else:
            size = self.get_support().astype(float)  # type: ignore[attr-defined]
        order = np.argsort(-size, kind="stable")[:most]
        order = order[size[order] > 0][::-1]
        names = self._named()  # type: ignore[attr-defined]
        chosen = self.get_support()  # type: ignore[attr-defined]
        ax.barh(range(len(order)), size[order], color=["C0" if chosen[j] else "0.8" for j in order])
        ax.set_yticks(range(len(order)), [names[j] if names else f"x{j}" for j in order])
        ax.set_xlabel("weight" if hasattr(self, "weights_") else "length of the coefficients")
        return ax

    def plot_mask(self, shape: tuple[int, int], ax: Any = None) -> Any:
        """The chosen pixels of images of this shape (rows, columns), features row after row."""
        rows, columns = shape
        if rows * columns != self.n_features_in_:  # type: ignore[attr-defined]
            raise ValueError(f"shape={shape} has {rows * columns} pixels, but there are {self.n_features_in_} features")  # type: ignore[attr-defined]
        ax = _axes(ax)
        ax.imshow(self.get_support().reshape(shape), cmap="Greys", interpolation="nearest")  # type: ignore[attr-defined]
        ax.set_xticks([])
        ax.set_yticks([])
        return ax
