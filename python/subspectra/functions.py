"""The commands of ``subspectra`` as functions: a table or matrices in, a result file out, as a dictionary with a few conveniences."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from . import _core
from ._calls import call_arguments, call_options, contact, seed_of, warn_of
from ._compat import HAS_TAG_OBJECTS
from ._files import left_out, write_text
from ._parts import evaluate_in_parts, made, workers_asked_for
from ._path import Certificate, Path
from ._tables import as_matrix, encoded, from_arrow, is_path, names_of
from .plots import plot_error, plot_path


class Result(dict):
    """A result file: the dictionary itself, and the text that the command line would have written."""

    def __init__(self, text: str) -> None:
        super().__init__(json.loads(text))
        self._text = text

    def to_json(self, path: Any = None) -> str:
        """The file as a text; also written to `path` where that is given."""
        if path is not None:
            write_text(path, self._text)
        return self._text

    @property
    def status(self) -> str:
        """How it ended: "optimal", "heuristic", "time_limit", ..."""
        return str(self["status"])

    def __reduce__(self) -> Any:
        return type(self), (self._text,)


class SelectionResult(Result):
    """What a method chose (``subspectra.selection/1``)."""

    @property
    def path(self) -> Path:
        """The sets, ascending in size; ``to_frame()``."""
        return Path(self["path"])

    @property
    def ranking(self) -> np.ndarray:
        """All features, the best first, where the method ranks."""
        return np.asarray(self.get("ranking", []), dtype=np.intp)

    @property
    def weights(self) -> np.ndarray:
        """The scores, where the method weighs."""
        return np.asarray(self.get("weights", []), dtype=np.float64)

    @property
    def certificate(self) -> Certificate:
        """Of the largest set."""
        return Certificate.of(self["path"][-1], self.status)

    def plot_path(self, ax: Any = None) -> Any:
        """The objective by size with its bounds."""
        return plot_path(self.path, ax)


class EvaluationResult(Result):
    """Cross-validated error against size (``subspectra.evaluation/1``)."""

    def to_frame(self) -> Any:
        """A pandas data frame, one row a method and size."""
        import pandas as pd

        return pd.DataFrame(self["results"])

    def _chosen(self, method: str | None) -> dict[str, Any]:
        for choice in self.get("chosen", []):
            if method is None or choice["method"] == method:
                return dict(choice)
        raise KeyError(f"nothing was chosen for {method or 'any method'}: fewer than half of the folds ran, or it was not evaluated")

    def k_one_standard_error(self, method: str | None = None) -> int | None:
        """The smallest size within one standard error of the best, of the first method or the one that is named."""
        return self._chosen(method)["k_one_standard_error"]

    def k_best(self, method: str | None = None) -> int | None:
        """The smallest size with the smallest error."""
        return self._chosen(method)["k_best"]

    def confusion(self, method: str | None = None) -> np.ndarray:
        """Held-out rows, truth by row."""
        return np.asarray(self._chosen(method)["confusion"], dtype=np.float64)

    def features(self, method: str | None = None) -> Any:
        """The features of the model on all rows, with the share of the folds that chose them: a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self._chosen(method)["features"])

    def plot_error(self, ax: Any = None) -> Any:
        """Error by size, a curve a method."""
        return plot_error(self, ax)


def _recipe(
    X: Any, y: Any = None, *, weights: Any = None, groups: Any = (), names: Any = None, read: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What a table is made of: the name of its file with how it is read, or its arrays."""
    if is_path(X):
        for name, given in (("y", y), ("sample_weight", weights)):
            if given is not None:
                raise TypeError(f"{name}= goes with arrays; a file has its own: name the column with target= or weights=")
        return {"path": X, "read": dict(read or {})}
    X, arrow_names = from_arrow(X)
    names = names or arrow_names or names_of(X)
    finite = {"ensure_all_finite" if HAS_TAG_OBJECTS else "force_all_finite": "allow-nan"}
    X = check_array(X, accept_sparse=["csc", "csr"], dtype=np.float64, **finite)
    codes: Any = None
    classes: Any = ()
    if y is not None:
        y = column_or_1d(y)
        check_consistent_length(X, y)
        classes, codes = encoded(y)
    return {"X": X, "codes": codes, "classes": classes, "names": names, "weights": weights, "groups": [str(g) for g in groups]}


def _table(X: Any, y: Any = None, **beside: Any) -> _core.Table:
    return made(_recipe(X, y, **beside))


def _matrices(A: Any, B: Any, names: Any) -> _core.Matrices:
    names = names or names_of(A) or []
    a = as_matrix(A, "A")
    return _core.Matrices.one(a, list(names)) if B is None else _core.Matrices.pair(a, as_matrix(B, "B"), list(names))


def select(
    X: Any, y: Any = None, *, method: str = "", sample_weight: Any = None, names: Any = None, progress: Any = None, **options: Any
) -> SelectionResult:
    """Choose features by one method: a set for every size, as ``subspectra select``.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)
        A path names a file or an embedded data set (``"sonar"``).
    y : array-like, default None
        Labels, for the methods that need them.
    method : str, default ""
        One that ``subspectra methods`` lists; by default ``gslda`` with labels and ``qalpha`` without.
    sample_weight : array-like, default None
        Row weights.
    names : list of str, default None
        Of the features; those of a frame by default.
    progress : bool or callable, default None
        True shows a bar.
    **options
        As on the command line, with ``_`` for ``-``: ``k=range(1, 11)``, ``include=["V11"]``, ``bounds=True``, ``time_limit=60``;
        ``certify=False`` leaves out all upper bounds.

    Returns
    -------
    SelectionResult
        A dictionary: the result file.

    Examples
    --------
    >>> import subspectra as sp
    >>> found = sp.select("sonar", method="eslda", k=range(1, 4))
    >>> [record["certified"] for record in found.path]
    [True, True, True]
    """
    options.setdefault("n_jobs", None)
    read = _reading(X, options, names=names)
    table = _table(X, y, weights=sample_weight, names=names, read=read)
    given = _core.CallOptions(**call_arguments(options, names=table.names, count=table.features, read=read))
    result = SelectionResult(_core.select(table, method, given, contact(progress, "select")))
    warn_of(result["warnings"], result.status, "select")
    return result


_READ = ("target", "weights", "features", "index_base", "format", "transpose", "labels", "id", "categorical", "na")
_SEARCHES = {
    "exact": ("espca", "eslda"),
    "greedy": ("gspca", "gslda"),
    "forward": ("forward-pca", "forward-lda"),
    "backward": ("backward-pca", "backward-lda"),
}


def _take(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: options.pop(name) for name in names if name in options}


def _reading(X: Any, options: dict[str, Any], **named: Any) -> dict[str, Any]:
    """The options of reading that are among these, taken out, and those that other parameters of the function stand for."""
    if not is_path(X):
        return {}
    named = {name: value for name, value in named.items() if isinstance(value, (str, os.PathLike))}
    return {**_take(options, _READ), **named, **left_out(options.get("exclude"))}


def search(
    A: Any, B: Any = None, k: Any = None, *, method: str = "exact", names: Any = None, progress: Any = None, **options: Any
) -> SelectionResult:
    """The set S of k features with the largest eigenvalue of A_S x = lambda B_S x, on matrices.

    Parameters
    ----------
    A : array-like of shape (p, p)
        The covariance between the classes, or the covariance whose components are looked for.
    B : array-like of shape (p, p), default None
        That within the classes; None: the identity, sparse principal components.
    k : int, range or list of int
        How many.
    method : {"exact", "greedy", "forward", "backward"}, default "exact"
        The search; names of ``subspectra methods`` are taken, too.
    names : list of str, default None
        Of the features.
    progress : bool or callable, default None
        True shows a bar.
    **options
        Of the method: ``pool=3``, ``gap=0.01``, ``time_limit=60``.

    Examples
    --------
    >>> import numpy as np, subspectra as sp
    >>> found = sp.search(np.diag([1.0, 3.0, 2.0]), k=1)
    >>> found.path[0]["features"], found.status
    ([1], 'optimal')
    """
    options.setdefault("n_jobs", None)
    method = _SEARCHES[method][0 if B is None else 1] if method in _SEARCHES else method
    matrices = _matrices(A, B, names)
    count = np.shape(A)[0]
    known = list(names) if names is not None else names_of(A)
    result = SelectionResult(
        _core.select_matrices(matrices, method, call_options({"k": k, **options}, names=known, count=count), contact(progress, "search"))
    )
    warn_of(result["warnings"], result.status, "search")
    return result


def bounds(A: Any, B: Any = None, k: Any = None, *, names: Any = None, **options: Any) -> Any:
    """All upper and lower bounds on the best set of every size, with their names.

    Parameters
    ----------
    A, B : array-like of shape (p, p)
        As for :func:`search`.
    k : int, range or list of int, default None
        The sizes; 1 to min(p, 50) where none is given.

    Returns
    -------
    dict of int to dict
        Of every size ``objective`` (of the greedy set), ``upper``, ``lower_any`` and ``lower_best``, each a dictionary by name.

    Examples
    --------
    >>> import numpy as np, subspectra as sp
    >>> sp.bounds(np.diag([1.0, 3.0, 2.0]), k=2)[2]["objective"]
    3.0
    """
    result = search(A, B, k, method="greedy", names=names, bounds=True, **options)
    return {record["k"]: {"objective": record["objective"], **record.get("bounds", {})} for record in result["path"]}


def renormalize(A: Any, B: Any = None, support: Any = None, *, loadings: Any = None, names: Any = None, **options: Any) -> dict[str, Any]:
    """The best loadings on a set that someone else chose (variational renormalization).

    Parameters
    ----------
    A, B : array-like of shape (p, p)
        As for :func:`search`.
    support : list of int or str
        The features.
    loadings : array-like, default None
        Those that came with the set, one a feature: their own quotient is then ``given_objective``.

    Returns
    -------
    dict
        The record of the set: ``features``, ``objective``, ``loadings``, and ``given_objective`` where loadings were given.

    Examples
    --------
    >>> import numpy as np, subspectra as sp
    >>> sp.renormalize(np.diag([1.0, 3.0, 2.0]), support=[0, 1])["objective"]
    3.0
    """
    if support is None:
        raise TypeError("renormalize() needs support=, the features of the set")
    from ._calls import names_from

    count = np.shape(A)[0]
    known = list(names) if names is not None else names_of(A)
    chosen = names_from(support, known, count)
    given = [] if loadings is None else [float(x) for x in np.asarray(loadings, dtype=np.float64).ravel()]
    text = _core.renormalize_matrices(_matrices(A, B, names), [(chosen, given)], call_options(options, names=known, count=count))
    return dict(json.loads(text)["path"][0])


def evaluate(
    X: Any,
    y: Any = None,
    *,
    method: Any = "auto",
    sample_weight: Any = None,
    cv_groups: Any = (),
    names: Any = None,
    n_jobs: int | None = None,
    progress: Any = None,
    **options: Any,
) -> EvaluationResult:
    """Cross-validated error against the number of features, selection repeated inside every training fold.

    Parameters
    ----------
    X, y : as for :func:`select`
    method : str, list, or dict, default "auto"
        A name, several, or a dictionary of name to options: ``{"gslda": {"swaps": 5}, "fisher": {}}``.
    sample_weight : array-like, default None
        Row weights.
    cv_groups : sequence, or str, default ()
        A group for each row, or with a path the name of its column; rows of one group are held out together.
    n_jobs : int, default None
        Threads of this process; None: every core, but one inside a joblib worker. Where a backend of joblib was chosen
        (``joblib.parallel_config("loky")``, ``"dask"``, ``"ray"``, ``"spark"``) so many tasks of it share the training sets: with a
        path as X every worker reads the file, and the data do not travel. The answer is the same.
    progress : bool or callable, default None
        True shows a bar.
    **options
        As of ``subspectra evaluate``: ``k=range(1, 11)``, ``cv=5``, ``repeats=20``, ``null=99``, ``classifier="svm"``, ``random_state=0``.

    Returns
    -------
    EvaluationResult
        A dictionary: ``results`` (error by size), ``chosen`` (confusion, frequencies, curves), ``folds``. The numbers are those of the
        command line for the same seed.

    Examples
    --------
    >>> import subspectra as sp
    >>> cv = sp.evaluate("sonar", method=["fisher", "forward-lda"], k=range(1, 4))
    >>> len(cv.to_frame())
    6
    """
    options["n_jobs"] = n_jobs
    read = _reading(X, options, names=names, cv_groups=cv_groups)
    recipe = _recipe(X, y, weights=sample_weight, groups=() if isinstance(cv_groups, str) else cv_groups, names=names, read=read)
    table = made(recipe)
    if isinstance(method, str):
        method = [method]
    methods = list(method.items()) if isinstance(method, Mapping) else [(name, {}) for name in method]
    pairs = [(name, _options_text(own)) for name, own in methods]
    known: dict[str, Any] = {"names": table.names, "count": table.features, "read": read}
    if "random_state" in options:
        options["random_state"] = seed_of(options["random_state"])  # drawn once, whoever runs the folds
    workers = workers_asked_for(n_jobs)
    arguments = call_arguments(options, **known)
    if workers == 1:
        text = _core.evaluate(table, pairs, _core.CallOptions(**arguments), contact(progress, "evaluate"))
    else:
        alone = call_arguments({**options, "n_jobs": 1}, **known)
        text = evaluate_in_parts(recipe, table, pairs, arguments, alone, workers, progress)
    result = EvaluationResult(text)
    warn_of(result["warnings"], result.status, "evaluate")
    return result


def _options_text(own: Mapping[str, Any]) -> str:
    from ._calls import RENAMED, plain

    return json.dumps({RENAMED.get(name, name.rstrip("_")): plain(value) for name, value in own.items() if value is not None})


def verify(
    result: Any,
    X: Any = None,
    y: Any = None,
    *,
    A: Any = None,
    B: Any = None,
    sample_weight: Any = None,
    progress: Any = None,
    **options: Any,
) -> Result:
    """Check a selection result against its data by an independent dense route, as ``subspectra verify``.

    Parameters
    ----------
    result : SelectionResult, fitted estimator, text or path
        What is claimed.
    X, y : the table it was made from; or
    A, B : the matrices.

    Returns
    -------
    Result
        ``verdict`` ("holds", "fails", "unchecked") and all findings.

    Examples
    --------
    >>> import subspectra as sp
    >>> sp.verify(sp.select("sonar", method="eslda", k=2), "sonar")["verdict"]
    'holds'
    """
    text = result.to_json() if isinstance(result, Result) else getattr(result, "result_", result)
    if isinstance(text, dict):
        text = json.dumps(text)
    elif not (isinstance(text, str) and text.lstrip().startswith("{")):
        text = FilePath(text).read_text(encoding="utf-8")
    given = call_options(options)
    who = contact(progress, "verify")
    if A is not None:
        names = json.loads(text)["data"].get("names")
        return Result(_core.verify_matrices(text, _matrices(A, B, names), given, who))
    names = json.loads(text)["data"].get("names")
    plain_names = names if names and any(name != f"x{j}" for j, name in enumerate(names)) else None
    said = json.loads(text).get("options", {})
    read = {name: said[name] for name in _READ if name in said} | left_out(said.get("exclude"))  # a file is read as it was
    table = _table(X, y, weights=sample_weight, names=None if is_path(X) else plain_names, read=read)
    return Result(_core.verify(text, table, given, who))
