"""Q-alpha: features weighed without labels, by how well they make the rows fall into clusters."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.multiclass import check_classification_targets

from . import _core
from ._base import COMMON, OPTIONAL_COUNT, OPTIONAL_FLAG, OPTIONAL_NUMBER, OPTIONAL_TEXT, SIZES, START, Selecting, SelectingUnsupervised
from ._calls import contact, warn_of
from ._docs import documented
from ._tables import encoded, from_arrow, is_path, table_of

_VARIANTS = {"unsupervised": "qalpha"} | {
    name: f"qalpha-{name}" for name in ("basic", "ritz", "laplacian", "gap", "supervised", "semi", "kernel")
}


def _some_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes of labels some of which may be missing (None, NaN or an empty text): -1 then."""
    labels = [None if one is None or one == "" or one != one else one for one in np.asarray(y, dtype=object).ravel()]
    classes = np.unique(np.asarray([one for one in labels if one is not None]))
    place = {label: i for i, label in enumerate(classes.tolist())}
    return np.asarray([-1 if one is None else place[one] for one in labels], dtype=np.int32), classes


@documented
class QAlpha(SelectingUnsupervised):
    """Weights of features by the spectrum of the affinity that they make (Wolf and Shashua), and the relevant ones.

    Parameters
    ----------
    variant : {"unsupervised", "basic", "ritz", "laplacian", "gap", "supervised", "semi", "kernel"}, default "unsupervised"
        The criterion. ``supervised`` needs labels; ``semi`` takes some, None, NaN or "" for a row without one.
    k : int, range or list of int, default None
        How many features; None: those above the largest fall of the weights, else all of positive weight.
    shared : include, exclude
    n_clusters : int, default None
        Columns of Q: how many clusters the weights are to bring out.
    shared : start, restarts, no_normalize
    gamma : float, default None
        Weight between and within classes (supervised, semi).
    within_vectors : int, default None
        Vectors within classes (supervised, semi).
    between_vectors : int, default None
        Vectors between classes (supervised, semi).
    supervision : float, default None
        Share of the labelled rows (semi).
    kernel : "linear", "poly:D:C", "rbf:SIGMA" or "block2:LENGTH", default None
        Of the feature rows (kernel).
    kernel_tolerance : float, default None
        Of its factor (kernel).
    laplacian_shift : {"degree", "diagonal"}, default None
        (laplacian).
    shared : max_iterations, tolerance, missing, standardize, column_transform, time_limit, memory_limit, random_state, n_jobs, progress

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Of the features.
    ranking_ : ndarray of int
        All columns, the heaviest first.
    features_ : ndarray of int
        The chosen columns, ascending.
    path_ : Path
        A record for each set; ``to_frame()``.
    status_ : str
        How the method ended.
    result_ : dict
        The selection result.

    Examples
    --------
    >>> import subspectra as sp
    >>> X, _ = sp.datasets.load("ionosphere", return_X_y=True)
    >>> sp.QAlpha(k=4).fit_transform(X).shape
    (351, 4)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "variant": [str],
        "k": SIZES,
        **COMMON,
        "n_clusters": OPTIONAL_COUNT,
        "start": START,
        "restarts": OPTIONAL_COUNT,
        "no_normalize": OPTIONAL_FLAG,
        "gamma": OPTIONAL_NUMBER,
        "within_vectors": OPTIONAL_COUNT,
        "between_vectors": OPTIONAL_COUNT,
        "supervision": OPTIONAL_NUMBER,
        "kernel": OPTIONAL_TEXT,
        "kernel_tolerance": OPTIONAL_NUMBER,
        "laplacian_shift": OPTIONAL_TEXT,
        "max_iterations": OPTIONAL_COUNT,
        "tolerance": OPTIONAL_NUMBER,
    }

    def __init__(
        self,
        variant: str = "unsupervised",
        k: Any = None,
        *,
        include: Any = None,
        exclude: Any = None,
        n_clusters: int | None = None,
        start: Any = None,
        restarts: int | None = None,
        no_normalize: bool | None = None,
        gamma: float | None = None,
        within_vectors: int | None = None,
        between_vectors: int | None = None,
        supervision: float | None = None,
        kernel: str | None = None,
        kernel_tolerance: float | None = None,
        laplacian_shift: str | None = None,
        max_iterations: int | None = None,
        tolerance: float | None = None,
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
        return _VARIANTS.get(self.variant, self.variant)

    def _needs_labels(self) -> bool:
        return self.variant in ("supervised", "semi")

    def _labels_of(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        if not self._needs_labels():
            return super()._labels_of(X, y)
        if self.variant == "supervised" or y is None:
            X, y = self._check(X, y, reset=True)
            check_classification_targets(y)
            classes, codes = encoded(y)
            return X, codes, classes
        X = self._check(X, "no_validation", reset=True)
        codes, classes = _some_labels(y)
        if len(codes) != X.shape[0]:
            raise ValueError(f"y has {len(codes)} labels for {X.shape[0]} rows; give one for each, None where there is none")
        return X, codes, classes

    def _choose_support(self) -> None:
        if self.k is not None:
            super()._choose_support()
            return
        cut = self.result_.get("relevance", {}).get("cut", {}).get("k", 0)
        chosen = self.ranking_[:cut] if cut else np.flatnonzero(self.weights_ > 0)
        self._keep_support(chosen)
        self.k_ = len(self.features_)

    def fit(self, X: Any, y: Any = None) -> QAlpha:
        """Weigh the features and keep the relevant ones.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)
            A float64 array is used where it lies, whatever its strides. A path names a file that the command line reads.
        y : array-like of shape (n_samples,), default None
            Labels, for the variants that use them.

        Returns
        -------
        self
        """
        self._select(X, y)
        self._choose_support()
        return self


@documented
class SpectralFeatureClustering(ClusterMixin, Selecting):
    """Spectral clustering of the rows on the features that Q-alpha finds relevant.

    Parameters
    ----------
    n_clusters : int, default None
        How many clusters; None: two.
    k : int, default None
        On how many features; None: those above the largest fall of the weights.
    shared : include, exclude
    variant : {"unsupervised", "basic", "ritz", "laplacian", "gap", "kernel"}, default "unsupervised"
        How features are weighed.
    eigenvectors : int, default None
        Of the affinity, that place the rows.
    row_scaling : {"unit", "none", "eigenvalues"}, default None
        Of their rows.
    kmeans_restarts : int, default None
        Of k-means.
    kmeans_iterations : int, default None
        Of k-means.
    no_comparison : bool, default None
        Do not cluster on all features as well.
    shared : start, restarts, no_normalize
    kernel : "linear", "poly:D:C", "rbf:SIGMA" or "block2:LENGTH", default None
        Of the feature rows (kernel).
    kernel_tolerance : float, default None
        Of its factor (kernel).
    laplacian_shift : {"degree", "diagonal"}, default None
        (laplacian).
    shared : max_iterations, tolerance, missing, standardize, column_transform, time_limit, memory_limit, random_state, n_jobs, progress

    Attributes
    ----------
    labels_ : ndarray of int
        The cluster of every row.
    weights_, ranking_ : ndarray
        Of the features.
    features_ : ndarray of int
        What the rows were clustered on.
    n_clusters_ : int
        How many there are.
    eigenvalues_ : ndarray
        Of the affinity.
    result_ : dict
        The clustering result.

    Examples
    --------
    >>> import subspectra as sp
    >>> X, _ = sp.datasets.load("ionosphere", return_X_y=True)
    >>> sp.SpectralFeatureClustering(2).fit(X).labels_.shape
    (351,)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": OPTIONAL_COUNT,
        "k": OPTIONAL_COUNT,
        **COMMON,
        "variant": [str],
        "eigenvectors": OPTIONAL_COUNT,
        "row_scaling": OPTIONAL_TEXT,
        "kmeans_restarts": OPTIONAL_COUNT,
        "kmeans_iterations": OPTIONAL_COUNT,
        "no_comparison": OPTIONAL_FLAG,
        "start": START,
        "restarts": OPTIONAL_COUNT,
        "no_normalize": OPTIONAL_FLAG,
        "kernel": OPTIONAL_TEXT,
        "kernel_tolerance": OPTIONAL_NUMBER,
        "laplacian_shift": OPTIONAL_TEXT,
        "max_iterations": OPTIONAL_COUNT,
        "tolerance": OPTIONAL_NUMBER,
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        k: Any = None,
        *,
        include: Any = None,
        exclude: Any = None,
        variant: str = "unsupervised",
        eigenvectors: int | None = None,
        row_scaling: str | None = None,
        kmeans_restarts: int | None = None,
        kmeans_iterations: int | None = None,
        no_comparison: bool | None = None,
        start: Any = None,
        restarts: int | None = None,
        no_normalize: bool | None = None,
        kernel: str | None = None,
        kernel_tolerance: float | None = None,
        laplacian_shift: str | None = None,
        max_iterations: int | None = None,
        tolerance: float | None = None,
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
        return _VARIANTS.get(self.variant, self.variant)

    def fit(self, X: Any, y: Any = None) -> SpectralFeatureClustering:
        """Weigh the features, then put the rows into clusters on the relevant ones.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)
            A float64 array is used where it lies, whatever its strides. A path names a file that the command line reads.
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        if is_path(X):
            table = self._read_table(X)
        else:
            X, names = from_arrow(X)
            X = self._check(X, "no_validation", reset=True)
            if names is not None:
                self.feature_names_in_ = np.asarray(names, dtype=object)
            table = table_of(X, names=self._named())
        text = _core.cluster(
            table, self._method_name(), self._call_options(self._named(), self.n_features_in_), contact(self.progress, type(self).__name__)
        )
        self.result_ = result = json.loads(text)
        self.status_ = result["status"]
        self.labels_ = np.asarray(result["labels"], dtype=np.int64)
        self.weights_ = np.asarray(result["weights"], dtype=np.float64)
        self.ranking_ = np.asarray(result["ranking"], dtype=np.intp)
        self.eigenvalues_ = np.asarray(result["eigenvalues"], dtype=np.float64)
        self.n_clusters_ = len(result["sizes"])
        self._keep_support(result["features"])
        self.k_ = len(result["features"])
        warn_of(result["warnings"], self.status_, type(self).__name__)
        return self
