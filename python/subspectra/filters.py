"""Filters: features one by one."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils.multiclass import check_classification_targets

from ._base import COMMON, NUMBER_OR_TEXT, OPTIONAL_COUNT, OPTIONAL_NUMBER, OPTIONAL_TEXT, SIZES, SelectingUnsupervised
from ._docs import documented
from ._tables import encoded


@documented
class FilterSelector(SelectingUnsupervised):
    """The features that tell the classes apart best, each by itself.

    Parameters
    ----------
    method : {"fisher", "pearson", "ks", "snr", "max-surprise"}, default "fisher"
        The score; ``ks`` and ``snr`` are for two classes, ``max-surprise`` needs no labels.
    k : int, range or list of int, default 10
        How many features; of several sizes the path has them all and the largest is the one that is kept. More than there are: all,
        with a warning.
    shared : include, exclude, groups, criterion, ridge, restarts
    patience : int, default None
        Rounds without gain (max-surprise).
    smallest_class : float, default None
        Share of the rows (max-surprise).
    certify : bool, default False
        Upper bounds beside the sets, on how much better than these other sets could be.
    shared : missing, standardize, column_transform, time_limit, memory_limit, random_state, n_jobs, progress

    Attributes
    ----------
    features_ : ndarray of int
        The chosen columns, ascending.
    ranking_ : ndarray of int
        All columns, the best first, where the method ranks.
    weights_ : ndarray of shape (n_features,)
        The scores, where the method weighs.
    path_ : Path
        A record for each set; ``to_frame()``.
    status_ : str
        How the method ended.
    result_ : dict
        The selection result.

    Examples
    --------
    >>> import subspectra as sp
    >>> X, y = sp.datasets.load("sonar", return_X_y=True)
    >>> sp.FilterSelector("ks", k=5).fit_transform(X, y).shape
    (208, 5)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "certify": ["boolean"],
        "method": [str],
        "k": SIZES,
        **COMMON,
        "groups": [str, dict, "array-like", None],
        "criterion": OPTIONAL_TEXT,
        "ridge": NUMBER_OR_TEXT,
        "restarts": OPTIONAL_COUNT,
        "patience": OPTIONAL_COUNT,
        "smallest_class": OPTIONAL_NUMBER,
    }

    def __init__(
        self,
        method: str = "fisher",
        k: Any = 10,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        criterion: str | None = None,
        ridge: Any = None,
        restarts: int | None = None,
        patience: int | None = None,
        smallest_class: float | None = None,
        certify: bool = False,
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
        return self.method

    def _needs_labels(self) -> bool:
        return self.method != "max-surprise"

    def _labels_of(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        if y is None and not self._needs_labels():
            return super()._labels_of(X, y)
        X, y = self._check(X, y, reset=True)
        check_classification_targets(y)
        classes, codes = encoded(y)
        return X, codes, classes

    def fit(self, X: Any, y: Any = None) -> FilterSelector:
        """Score the features and keep the best.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)
            A float64 array is used where it lies, whatever its strides. A path names a file that the command line reads.
        y : array-like of shape (n_samples,)
            Labels: numbers or texts; left out with a path, whose file has them.

        Returns
        -------
        self
        """
        self._select(X, y)
        self._choose_support()
        return self
