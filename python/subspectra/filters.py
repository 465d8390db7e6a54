"""Filters: features one by one."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils.multiclass import check_classification_targets

from ._base import COMMON, NUMBER_OR_TEXT, OPTIONAL_COUNT, OPTIONAL_NUMBER, OPTIONAL_TEXT, SIZES, SelectingUnsupervised
from ._tables import encoded


class FilterSelector(SelectingUnsupervised):
    """The features that tell the classes apart best, each by itself.

    Parameters
    ----------
    method : {"fisher", "pearson", "ks", "snr", "max-surprise"}, default "fisher"
        The score; ``ks`` and ``snr`` are for two classes, ``max-surprise`` needs no labels.
    k : int, range or list of int, default 10
        How many features; of several sizes the path has them all and the largest is the one that is kept. More than there are: all,
        with a warning.
    include : list of str or int, default None
        Features that are always chosen (they count in k): names, patterns (``"gene_*"``) or column numbers.
    exclude : list of str or int, default None
        Features that are never chosen.
    groups : list, dict or path, default None
        Features that enter and leave together: a group for each feature ("" for one by itself), a dictionary of feature to group, or a
        CSV file ``feature,group``; k then counts groups.
    criterion : {"auto", "largest", "trace", "wilks"}, default None
        What a set is judged by.
    ridge : float, "auto", "cv" or "rel:F", default None
        Added to the diagonal of the within-class covariance: a number, or a fraction F of each column's own variance.
    restarts : int, default None
        Starts of which the best is kept.
    patience : int, default None
        Rounds without gain (max-surprise).
    smallest_class : float, default None
        Share of the rows (max-surprise).
    certify : bool, default False
        Upper bounds beside the sets, on how much better than these other sets could be.
    missing : {"error", "mean", "median", "indicator", "drop"}, default None
        What is done with NaN.
    standardize : bool, default None
        Divide columns by their standard deviation first.
    column_transform : {"auto", "none", "asinh"}, default None
        What is done with columns whose values lie far apart.
    time_limit : float, default None
        Seconds after which the best so far is the answer.
    memory_limit : int or str, default None
        Bytes, or "4G": work that needs more is refused.
    random_state : int, RandomState or None, default 0
        Of every random choice.
    n_jobs : int, default None
        Threads. None: every core, but one inside a joblib worker.
    progress : bool or callable, default None
        True shows a bar; a function is called with (task, fraction, seconds, detail).

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
        self.method = method
        self.k = k
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.criterion = criterion
        self.ridge = ridge
        self.restarts = restarts
        self.patience = patience
        self.smallest_class = smallest_class
        self.certify = certify
        self.missing = missing
        self.standardize = standardize
        self.column_transform = column_transform
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

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
