"""Sparse discriminant analysis: the search for the features that tell classes apart best, and a rule on them."""

from __future__ import annotations

from typing import Any, ClassVar

from ._base import COMMON, DISCRIMINANT, OPTIONAL_COUNT, OPTIONAL_FLAG, OPTIONAL_NUMBER, OPTIONAL_TEXT, RULE, SIZES, SelectingClassifier
from ._docs import documented

_METHODS = {"forward": "forward-lda", "backward": "backward-lda", "exact": "eslda"}


@documented
class SparseLDA(SelectingClassifier):
    """Linear discriminant analysis on a few features, chosen by the generalized eigenvalue that they reach.

    A set S of features is judged by T = M_S' B_S^-1 M_S, the variance between the classes in units of the variance within them, and
    the best set of k features is searched for: greedily with upper bounds (``"gslda"``), forward or backward alone, by thresholding
    (``"st"``), or exactly, with a proof (``"exact"``).

    Parameters
    ----------
    method : {"gslda", "forward", "backward", "exact", "st"}, default "gslda"
        The search. Names of ``subspectra methods`` are taken, too.
    k : int, "cv", range or list of int, default 10
        How many features; of groups, where there are any. ``"cv"``, a range or a list leaves the choice to 5-fold cross-validation
        inside the training rows: the smallest size within one standard error of the best. More than there are: all, with a warning.
    shared : include, exclude, groups, criterion, ridge, n_components
    swaps : int, default None
        After the search, at every size, at most this many exchanges of one feature for another (gslda, forward, backward).
    shared : pool, gap, node_limit
    threshold : {"x", "y"}, default None
        What is cut off (st).
    no_renormalize : bool, default None
        Keep the loadings that were cut (st).
    shared : classifier, classifier_options, prior, shrinkage, certify, device, missing, standardize,
        column_transform, time_limit, memory_limit, random_state, n_jobs, progress

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    features_ : ndarray of int
        The chosen columns, ascending.
    k_ : int
        How many were asked for, or chosen.
    path_ : Path
        A record for each set: ``features``, ``names``, ``objective``, ``upper_bound``, ``gap``, ``certified``; ``to_frame()``.
    certificate_ : dict
        Of the set: objective, upper bound, gap, whether it is proven to be the best of its size.
    objective_, upper_bound_ : float
        The same by themselves.
    coef_ : ndarray of shape (n_components, n_features)
        The discriminants, zero outside the set.
    evaluation_ : dict or None
        The cross-validation that chose ``k``.
    chosen_by_ : dict
        How the size was chosen.
    status_ : str
        How the fit ended: "optimal", "heuristic", "time_limit", ...
    result_ : dict
        The selection result, as ``subspectra select --json`` writes it.

    Examples
    --------
    >>> import subspectra as sp
    >>> X, y = sp.datasets.load("sonar", return_X_y=True)
    >>> lda = sp.SparseLDA(k=3).fit(X, y)
    >>> lda.transform(X).shape
    (208, 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "certify": ["boolean"],
        "device": OPTIONAL_TEXT,
        "method": [str],
        "k": SIZES,
        **COMMON,
        **DISCRIMINANT,
        **RULE,
        "swaps": OPTIONAL_COUNT,
        "pool": OPTIONAL_COUNT,
        "gap": OPTIONAL_NUMBER,
        "node_limit": OPTIONAL_COUNT,
        "threshold": OPTIONAL_TEXT,
        "no_renormalize": OPTIONAL_FLAG,
    }

    def __init__(
        self,
        method: str = "gslda",
        k: Any = 10,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        criterion: str | None = None,
        ridge: Any = None,
        n_components: int | None = None,
        swaps: int | None = None,
        pool: int | None = None,
        gap: float | None = None,
        node_limit: int | None = None,
        threshold: str | None = None,
        no_renormalize: bool | None = None,
        classifier: str | None = None,
        classifier_options: dict[str, Any] | None = None,
        prior: str | None = None,
        shrinkage: Any = None,
        certify: bool = True,
        device: str | None = None,
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SparseLDA:
        """Choose the features and train the rule on them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)
            A float64 array is used where it lies, whatever its strides. A path names a file that the command line reads (CSV, NPY,
            ...), with its labels; ``y`` is left out then.
        y : array-like of shape (n_samples,)
            Labels: numbers or texts.
        sample_weight : array-like of shape (n_samples,), default None
            2 counts as two equal rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)
