"""Recursive elimination by a linear support vector machine."""

from __future__ import annotations

from typing import Any, ClassVar

from ._base import COMMON, DISCRIMINANT, OPTIONAL_COUNT, OPTIONAL_NUMBER, RULE, SIZES, SelectingClassifier


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
    n_components : int, default None
        Discriminants or components that are kept.
    C : float, default None
        The cost of errors; None: chosen inside the training rows.
    rfe_step : float, default None
        Share of the features that a round removes.
    rfe_single : int, default None
        From so many features on one at a time.
    max_iterations : int, default None
        Most iterations of a fit.
    tolerance : float, default None
        Relative change at which it has converged; 0 runs all iterations.
    classifier : {"lda", "svm", "knn", "gp-laplace", "gp-ep"}, default None
        The rule on the chosen features.
    classifier_options : dict, default None
        Its options, as ``subspectra fit --help`` lists them: ``{"C": 1.0}``.
    prior : {"empirical", "uniform"}, default None
        Class probabilities before a row is seen.
    shrinkage : float or "auto", default None
        How far the rule's correlations are pulled towards zero.
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
        self.method = method
        self.k = k
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.criterion = criterion
        self.ridge = ridge
        self.n_components = n_components
        self.C = C
        self.rfe_step = rfe_step
        self.rfe_single = rfe_single
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.classifier = classifier
        self.classifier_options = classifier_options
        self.prior = prior
        self.shrinkage = shrinkage
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
