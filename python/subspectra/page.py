"""The page of ``subspectra report``, made from what Python holds: results, fitted estimators, models, files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path as FilePath
from typing import Any

from . import _core
from ._base import Model, SelectingClassifier
from ._files import OTHER_READERS, read_table, write_text
from ._tables import is_path
from .functions import Result, _table


class Page(str):
    """A page as a text (HTML) that a notebook shows as it is.

    Attributes
    ----------
    figures : dict of str to str
        Its figures: the name of a file, and SVG.
    """

    figures: dict[str, str]

    def _repr_html_(self) -> str:
        # A frame of its own: the page has its own style, and a policy by the hash of its script. In ASCII, since that hash is of letters
        # which whoever embeds the cell might read in another encoding.
        held = escape(self).encode("ascii", "xmlcharrefreplace").decode("ascii")
        return f'<iframe srcdoc="{held}" style="width:100%;height:56rem;border:0" title="Subspectra"></iframe>'


def _fitted(estimator: Any) -> Iterator[str]:
    """The results that a fitted estimator holds, as texts: those that `fit --report` puts on its page."""
    selection = getattr(estimator, "result_", None)
    if selection is not None:
        yield json.dumps(selection)
    if not isinstance(estimator, SelectingClassifier):
        return
    if getattr(estimator, "evaluation_", None):
        yield json.dumps(estimator.evaluation_)
    model = json.loads(estimator._model.fitted.file)
    if selection is not None:
        model["data"] = selection["data"]
    yield json.dumps(model)


def _texts(result: Any) -> Iterator[str | os.PathLike[str]]:
    """Of one argument the results it holds: texts, or paths."""
    if isinstance(result, Result):
        yield result.to_json()
    elif isinstance(result, dict):
        yield json.dumps(result)
    elif isinstance(result, Model):
        yield result.fitted.file
    elif is_path(result):
        yield result
    elif hasattr(result, "features_"):
        yield from _fitted(result)
    elif isinstance(result, (list, tuple)):
        for one in result:
            yield from _texts(one)
    else:
        from sklearn.utils.validation import check_is_fitted

        if hasattr(result, "fit"):
            check_is_fitted(result)
        shown = "results, fitted estimators, models, dictionaries, JSON texts and paths"
        raise TypeError(f"report() shows {shown}, not {type(result).__name__}")


def _kind(text: str) -> str:
    """ "selection", "evaluation", ...; what else a text may be is for the core to say."""
    try:
        schema = json.loads(text).get("schema")
    except json.JSONDecodeError:
        schema = None
    return next((kind for kind in _KINDS if schema == f"subspectra.{kind}/1"), "result")


_KINDS = ("selection", "evaluation", "clustering", "model", "reproduction")


def _sources(results: Any) -> list[tuple[str, str, str]]:
    """Name, text and path of every result; one that is no file has the name that the command line gives its kind."""
    sources = []
    seen: Counter[str] = Counter()
    for one in _texts(results):
        if not (isinstance(one, str) and one.lstrip().startswith("{")):
            sources.append((os.path.basename(os.fspath(one)), "", os.fspath(one)))
            continue
        kind = _kind(one)
        seen[kind] += 1
        sources.append((f"{kind}.json" if seen[kind] == 1 else f"{kind}-{seen[kind]}.json", one, ""))
    return sources


def _names_of_first(sources: list[tuple[str, str, str]]) -> list[str] | None:
    """The names of the features in the first result that is at hand."""
    for _, text, _ in sources:
        names = json.loads(text)["data"].get("names") if text and '"data"' in text else None
        if names:
            return [str(name) for name in names]
    return None


def report(
    *results: Any,
    path: Any = None,
    data: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    shape: Any = None,
    figures: Any = None,
) -> Any:
    """Results as one page to look at, as ``subspectra report``: one file, no network, opens from disk.

    Parameters
    ----------
    *results : results, fitted estimators, models, dict, str or path
        What functions of this package returned, estimators (their sets, the cross-validation and the model), result files by their
        contents or their names, or lists of these; several stand side by side. Behind a selection the log of its search
        (``subspectra select --events``) by its name.
    path : str or path, default None
        The file to write (``"page.html"``). None: the page is returned as a text, which a notebook shows.
    data : array-like, sparse matrix, data frame or path, default None
        The table that the results were made of: the page then has what the objective loses without each feature, near copies of the
        features, and class means as images under ``shape``. Its rows are never on the page.
    y, sample_weight : array-like, default None
        Labels and weights that go with ``data``; a file has them itself.
    shape : (int, int) or str, default None
        Height and width, (8, 8) or ``"8x8"``: features are the pixels of images, row by row.
    figures : str or path, default None
        A folder for the figures, each as SVG.

    Returns
    -------
    str or Page
        The path, or without one the page.

    Examples
    --------
    >>> import subspectra as sp
    >>> found = sp.select("sonar", method="eslda", k=range(1, 4))
    >>> page = sp.report(found, sp.evaluate("sonar", method="eslda", k=range(1, 4)), data="sonar")
    >>> page.startswith("<!DOCTYPE html>"), "path.svg" in page.figures
    (True, True)
    """
    sources = _sources(results)
    if not sources:
        raise TypeError("report() needs a result to show")
    by_core = data is not None and is_path(data) and os.path.splitext(os.fspath(data))[1].lower() not in OTHER_READERS
    table = None
    if data is not None and not by_core:
        table = read_table(data) if is_path(data) else _table(data, y, weights=sample_weight, names=_names_of_first(sources))
    size = "" if shape is None else shape if isinstance(shape, str) else "x".join(str(int(n)) for n in shape)
    html, drawn = _core.report(sources, table, os.fspath(data) if by_core else "", size)
    if figures is not None:
        folder = FilePath(figures)
        folder.mkdir(parents=True, exist_ok=True)
        for name, svg in drawn:
            write_text(folder / name, svg)
    if path is not None:
        write_text(path, html)
        return os.fspath(path)
    page = Page(html)
    page.figures = dict(drawn)
    return page
