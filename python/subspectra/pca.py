"""Sparse principal components: sets of features whose leading principal component explains the most variance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ._base import COMMON, NUMBER_OR_TEXT, OPTIONAL_COUNT, OPTIONAL_NUMBER, SIZES, SelectingUnsupervised
from ._docs import documented
from ._tables import from_arrow, is_path

_METHODS = {"forward": "forward-pca", "backward": "backward-pca", "exact": "espca"}


@documented
class SparsePCA(SelectingUnsupervised):
    """Principal components on k features each, with upper bounds or proofs.

    ``transform`` keeps the chosen columns, as every selector does; ``scores`` gives the coordinates in the space of the components, which
    scikit-learn's ``SparsePCA`` calls transform.

    Parameters
    ----------
    method : {"gspca", "forward", "backward", "exact", "spca", "dspca"}, default "gspca"
        The search; the last two are the relaxations of Zou, Hastie and Tibshirani and of d'Aspremont and others.
    k : int, range or list of int, default 10
        How many features; of several sizes the path has them all and the largest is the one that is kept. More than there are: all,
        with a warning.
    shared : include, exclude, groups, n_components, pool, gap, node_limit, lambda_, lambdas, lambda_ratio
    l2 : float or "auto", default None
        Ridge of spca.
    rho : float, default None
        Weight of the entries of dspca.
    shared : max_iterations, tolerance, certify, missing, standardize, column_transform, time_limit, memory_limit, random_state, n_jobs,
        progress

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Loadings of unit length, zero outside the sets.
    explained_variance_ : ndarray of shape (n_components,)
        The variance of each.
    mean_ : ndarray of shape (n_features,)
        Of the training rows.
    features_ : ndarray of int
        The columns that some component uses.
    path_ : Path
        A record for each size of the first component.
    certificate_ : dict
        Of the first component's set.
    status_ : str
        How the search ended.
    result_ : dict
        The selection result.

    Examples
    --------
    >>> import subspectra as sp
    >>> X, _ = sp.datasets.load("sonar", return_X_y=True)
    >>> sp.SparsePCA(k=5).fit(X).components_.shape
    (1, 60)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "certify": ["boolean"],
        "method": [str],
        "k": SIZES,
        **COMMON,
        "groups": [str, dict, "array-like", None],
        "n_components": OPTIONAL_COUNT,
        "pool": OPTIONAL_COUNT,
        "gap": OPTIONAL_NUMBER,
        "node_limit": OPTIONAL_COUNT,
        "lambda_": NUMBER_OR_TEXT,
        "lambdas": OPTIONAL_COUNT,
        "lambda_ratio": OPTIONAL_NUMBER,
        "l2": NUMBER_OR_TEXT,
        "rho": OPTIONAL_NUMBER,
        "max_iterations": OPTIONAL_COUNT,
        "tolerance": OPTIONAL_NUMBER,
    }

    def __init__(
        self,
        method: str = "gspca",
        k: Any = 10,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        n_components: int | None = None,
        pool: int | None = None,
        gap: float | None = None,
        node_limit: int | None = None,
        lambda_: Any = None,
        lambdas: int | None = None,
        lambda_ratio: float | None = None,
        l2: Any = None,
        rho: float | None = None,
        max_iterations: int | None = None,
        tolerance: float | None = None,
        certify: bool = True,
        missing: str | None = None,
        standardize: bool | None = None,
        column_transform: str | None = None,
        time_limit: float | None = None,
        memory_limit: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: Any = None,
    ) -> None:
        self._store(locals())

    def _method_name(self) -> str:
        return _METHODS.get(self.method, self.method)

    def _keep_loadings(self) -> None:
        """``components_``: of every component its loadings, a row each, and ``explained_variance_``, what they reach."""
        paths = [self.path_, *(other["path"] for other in self.result_.get("components", []))]
        last = [path[-1] for path in paths if path]
        self.components_ = np.zeros((len(last), self.n_features_in_))
        for row, record in zip(self.components_, last, strict=True):
            row[record["features"]] = np.asarray(record["loadings"], dtype=np.float64)[:, 0]
        self.explained_variance_ = np.asarray([record["objective"] for record in last])
        self.coef_ = self.components_

    def _choose_support(self) -> None:
        """The features of all components together."""
        super()._choose_support()
        self._keep_support(np.flatnonzero(np.any(self.components_ != 0, axis=0)))

    def scores(self, X: Any) -> np.ndarray:
        """The rows in the space of the components: X less its training means, times the loadings."""
        check_is_fitted(self, "components_")
        if not hasattr(self, "mean_"):
            raise ValueError("a result file has no means; centre X yourself: (X - mean) @ components_.T")
        X = self._check(X, "no_validation", reset=False)
        return np.asarray(X @ self.components_.T) - self.mean_ @ self.components_.T

    def _keep_means(self, X: Any, sample_weight: Any) -> None:
        if is_path(X):
            return
        X = self._check(from_arrow(X)[0], "no_validation", reset=False)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if sparse.issparse(X) and sample_weight is None:
            self.mean_ = np.asarray(X.mean(axis=0)).ravel()
        else:
            X = X.toarray() if sparse.issparse(X) else X
            self.mean_ = np.average(X, axis=0, weights=weights) if not np.isnan(X).any() else np.nanmean(X, axis=0)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SparsePCA:
        """Choose the features of the largest variance.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)
            A float64 array is used where it lies, whatever its strides. A path names a file that the command line reads.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default None
            2 counts as two equal rows.

        Returns
        -------
        self
        """
        self._select(X, sample_weight=sample_weight)
        self._choose_support()
        self._keep_means(X, sample_weight)
        return self
