"""Recursive elimination by a linear support vector machine."""

from __future__ import annotations

from typing import Any, ClassVar

from ._base import COMMON, DISCRIMINANT, OPTIONAL_COUNT, OPTIONAL_NUMBER, RULE, SIZES, SelectingClassifier
from ._docs import documented


@documented
class SVMRFE(SelectingClassifier):
    """Recursive feature elimination (Guyon and others) by the weights of a linear support vector machine, which is then the rule.

    The same by radius and margin is ``method="svm-rmb"``.

    Parameters
    ----------
    method : {"svm-rfe", "svm-rmb"}, default "svm-rfe"
        The elimination.
    k : int, "cv", range or list of int, default 10
        How many features. ``"cv"``, a range or a list leaves the choice to 5-fold cross-validation inside the training rows: the smallest
        size within one standard error of the best. More than there are: all, with a warning.
    shared : include, exclude, groups, criterion, ridge, n_components
    C : float, default None
        The cost of errors; None: chosen inside the training rows.
    rfe_step : float, default None
        Share of the features that a round removes.
    rfe_single : int, default None
        From so many features on one at a time.
    shared : max_iterations, tolerance, classifier, classifier_options, prior, shrinkage, missing, standardize, column_transform,
        time_limit, memory_limit, random_state, n_jobs, progress

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    features_ : ndarray of int
        The chosen columns, ascending.
    k_ : int
        How many there are.
    path_ : Path
        A record for each set; ``to_frame()``.
    certificate_ : dict
        Of the set: objective, upper bound, gap, whether it is proven.
    coef_ : ndarray of shape (n_components, n_features)
        The discriminants, zero outside the set, where the method has some.
    chosen_by_ : dict
        How the size (or the method) was chosen.
    evaluation_ : dict or None
        The cross-validation that chose the size.
    status_ : str
        How the fit ended.
    result_ : dict
        The selection result.
    ranking_ : ndarray of int
        All columns, the last one removed first.

    Examples
    --------
    >>> import subspectra as sp
    >>> X, y = sp.datasets.load("sonar", return_X_y=True)
    >>> int(sp.SVMRFE(k=5, C=1.0).fit(X, y).get_support().sum())
    5
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [str],
        "k": SIZES,
        **COMMON,
        **DISCRIMINANT,
        **RULE,
        "C": OPTIONAL_NUMBER,
        "rfe_step": OPTIONAL_NUMBER,
        "rfe_single": OPTIONAL_COUNT,
        "max_iterations": OPTIONAL_COUNT,
        "tolerance": OPTIONAL_NUMBER,
    }

    def __init__(
        self,
        method: str = "svm-rfe",
        k: Any = 10,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        criterion: str | None = None,
        ridge: Any = None,
        n_components: int | None = None,
        C: float | None = None,
        rfe_step: float | None = None,
        rfe_single: int | None = None,
        max_iterations: int | None = None,
        tolerance: float | None = None,
        classifier: str | None = None,
        classifier_options: dict[str, Any] | None = None,
        prior: str | None = None,
        shrinkage: Any = None,
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

    def _options(self, n_features: int | None, grouped: bool) -> dict[str, Any]:
        options = super()._options(n_features, grouped)
        if options.get("classifier") is None:
            options["classifier"] = "svm"
        return options

    def fit(self, X: Any, y: Any = None) -> SVMRFE:
        """Choose the features and train the rule on them.

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
        return self._fit(X, y)
