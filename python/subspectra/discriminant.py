"""Discriminants that are sparse by a penalty: optimal scoring, relevance vector machines, group lasso and their kin."""

from __future__ import annotations

from typing import Any, ClassVar

from ._base import (
    COMMON,
    DISCRIMINANT,
    NUMBER_OR_TEXT,
    OPTIONAL_COUNT,
    OPTIONAL_NUMBER,
    OPTIONAL_TEXT,
    RULE,
    SIZES,
    START,
    SelectingClassifier,
)
from ._docs import documented


@documented
class SparseDiscriminant(SelectingClassifier):
    """Sparse discriminants by a penalized regression on optimal scores, with the rule in their space.

    (1/N)|Y Theta - X B|^2 + lambda phi(B) is minimized along falling lambdas; the rows of B that are not zero are the features.

    Parameters
    ----------
    method : {"gloss", "rvm-row", "rvm-entry", "sda", "plda", "sulda", "sfd", "jeffreys-row", "jeffreys-entry"}, default "gloss"
        The penalty.
    k : int, "cv", range or list of int, default 10
        How many features. ``"cv"``, a range or a list leaves the choice to 5-fold cross-validation inside the training rows: the smallest
        size within one standard error of the best. More than there are: all, with a warning.
    shared : include, exclude, groups, criterion, ridge, n_components, lambda_, lambdas, lambda_ratio
    alpha : float, default None
        Weight of the prior (rvm).
    prune : float, default None
        Rows below this share of the largest are dropped (rvm-row, jeffreys-row); 0 keeps all.
    rvm_update : {"fast", "em"}, default None
        How the variances of rvm-row move.
    l2 : float, default None
        Ridge of sda.
    epsilon : float, default None
        Floor of the Jeffreys prior.
    C : float, default None
        Cost of sfd.
    shared : start, max_iterations, tolerance, classifier, classifier_options, prior, shrinkage, missing, standardize, column_transform,
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
    lambda_path_ : list of dict
        The fits along lambda; only where it is a path.

    Examples
    --------
    >>> import subspectra as sp
    >>> X, y = sp.datasets.load("sonar", return_X_y=True)
    >>> sp.SparseDiscriminant("gloss", k=4).fit(X, y).transform(X).shape[1] <= 4
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [str],
        "k": SIZES,
        **COMMON,
        **DISCRIMINANT,
        **RULE,
        "lambda_": NUMBER_OR_TEXT,
        "lambdas": OPTIONAL_COUNT,
        "lambda_ratio": OPTIONAL_NUMBER,
        "alpha": OPTIONAL_NUMBER,
        "prune": OPTIONAL_NUMBER,
        "rvm_update": OPTIONAL_TEXT,
        "l2": OPTIONAL_NUMBER,
        "epsilon": OPTIONAL_NUMBER,
        "C": OPTIONAL_NUMBER,
        "start": START,
        "max_iterations": OPTIONAL_COUNT,
        "tolerance": OPTIONAL_NUMBER,
    }

    def __init__(
        self,
        method: str = "gloss",
        k: Any = 10,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        criterion: str | None = None,
        ridge: Any = None,
        n_components: int | None = None,
        lambda_: Any = None,
        lambdas: int | None = None,
        lambda_ratio: float | None = None,
        alpha: float | None = None,
        prune: float | None = None,
        rvm_update: str | None = None,
        l2: float | None = None,
        epsilon: float | None = None,
        C: float | None = None,
        start: Any = None,
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

    @property
    def lambda_path_(self) -> list[dict[str, Any]]:
        """The fits along falling lambdas, as the result file has them."""
        return list(self.result_.get("lambda_path", []))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SparseDiscriminant:
        """Choose the features and train the rule on them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)
            A float64 array is used where it lies, whatever its strides. A path names a file that the command line reads.
        y : array-like of shape (n_samples,)
            Labels: numbers or texts; left out with a path, whose file has them.
        sample_weight : array-like of shape (n_samples,), default None
            2 counts as two equal rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


@documented
class RVMDiscriminant(SparseDiscriminant):
    """The relevance vector machine on optimal scores: rows of B share a variance each, and most of these vanish.

    Parameters
    ----------
    k : int, "cv", range or list of int, default 10
        How many features. ``"cv"``, a range or a list leaves the choice to 5-fold cross-validation inside the training rows: the smallest
        size within one standard error of the best. More than there are: all, with a warning.
    shared : include, exclude, groups, criterion, ridge, n_components, lambda_, lambdas, lambda_ratio
    alpha : float, default None
        Weight of the prior (rvm).
    prune : float, default None
        Rows below this share of the largest are dropped (rvm-row, jeffreys-row); 0 keeps all.
    rvm_update : {"fast", "em"}, default None
        How the variances of rvm-row move.
    shared : start, max_iterations, tolerance, classifier, classifier_options, prior, shrinkage, missing, standardize, column_transform,
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

    Examples
    --------
    >>> import subspectra as sp
    >>> X, y = sp.datasets.load("sonar", return_X_y=True)
    >>> len(sp.RVMDiscriminant(k=3).fit(X, y).features_) <= 3
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": SIZES,
        **COMMON,
        **DISCRIMINANT,
        **RULE,
        "lambda_": NUMBER_OR_TEXT,
        "lambdas": OPTIONAL_COUNT,
        "lambda_ratio": OPTIONAL_NUMBER,
        "alpha": OPTIONAL_NUMBER,
        "prune": OPTIONAL_NUMBER,
        "rvm_update": OPTIONAL_TEXT,
        "start": START,
        "max_iterations": OPTIONAL_COUNT,
        "tolerance": OPTIONAL_NUMBER,
    }

    def __init__(
        self,
        k: Any = 10,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        criterion: str | None = None,
        ridge: Any = None,
        n_components: int | None = None,
        lambda_: Any = None,
        lambdas: int | None = None,
        lambda_ratio: float | None = None,
        alpha: float | None = None,
        prune: float | None = None,
        rvm_update: str | None = None,
        start: Any = None,
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
        return "rvm-row"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RVMDiscriminant:
        """Choose the features and train the rule on them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)
            A float64 array is used where it lies, whatever its strides. A path names a file that the command line reads.
        y : array-like of shape (n_samples,)
            Labels: numbers or texts; left out with a path, whose file has them.
        sample_weight : array-like of shape (n_samples,), default None
            2 counts as two equal rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


@documented
class GroupLassoDiscriminant(SparseDiscriminant):
    """Optimal scoring with a group lasso: the rows of B, one a feature, vanish as a whole; its optimum is certified.

    Parameters
    ----------
    k : int, "cv", range or list of int, default 10
        How many features. ``"cv"``, a range or a list leaves the choice to 5-fold cross-validation inside the training rows: the smallest
        size within one standard error of the best. More than there are: all, with a warning.
    shared : include, exclude, groups, criterion, ridge, n_components, lambda_, lambdas, lambda_ratio, start, max_iterations, tolerance,
        classifier, classifier_options, prior, shrinkage, missing, standardize, column_transform, time_limit, memory_limit,
        random_state, n_jobs, progress

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

    Examples
    --------
    >>> import subspectra as sp
    >>> X, y = sp.datasets.load("sonar", return_X_y=True)
    >>> len(sp.GroupLassoDiscriminant(k=3).fit(X, y).features_) <= 3
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": SIZES,
        **COMMON,
        **DISCRIMINANT,
        **RULE,
        "lambda_": NUMBER_OR_TEXT,
        "lambdas": OPTIONAL_COUNT,
        "lambda_ratio": OPTIONAL_NUMBER,
        "start": START,
        "max_iterations": OPTIONAL_COUNT,
        "tolerance": OPTIONAL_NUMBER,
    }

    def __init__(
        self,
        k: Any = 10,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        criterion: str | None = None,
        ridge: Any = None,
        n_components: int | None = None,
        lambda_: Any = None,
        lambdas: int | None = None,
        lambda_ratio: float | None = None,
        start: Any = None,
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
        return "gloss"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GroupLassoDiscriminant:
        """Choose the features and train the rule on them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)
            A float64 array is used where it lies, whatever its strides. A path names a file that the command line reads.
        y : array-like of shape (n_samples,)
            Labels: numbers or texts; left out with a path, whose file has them.
        sample_weight : array-like of shape (n_samples,), default None
            2 counts as two equal rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)
