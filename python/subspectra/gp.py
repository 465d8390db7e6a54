"""Gaussian processes: length-scales as relevance, and a rule with honest probabilities."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from ._base import COMMON, DISCRIMINANT, OPTIONAL_COUNT, OPTIONAL_FLAG, OPTIONAL_NUMBER, OPTIONAL_TEXT, SIZES, SelectingClassifier


class GPClassifier(SelectingClassifier):
    """Classification by a Gaussian process, on all features or on those with the shortest length-scales.

    k(x, x') = s^2 exp(-1/2 sum (x_d - x'_d)^2/l_d^2). Hyperparameters maximize the marginal likelihood; predictions average the
    latent function.

    Parameters
    ----------
    approximation : {"laplace", "ep"}, default "laplace"
        Laplace's approximation, or expectation propagation.
    k : int, "cv", range or list of int, default None
        How many features, by automatic relevance determination (gp-ard); None: all, and no choice is made.
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
    ard : bool, default None
        A length-scale for each feature in the rule.
    lengthscale : float or list, default None
        Where the length-scales start, or are fixed.
    signal : float, default None
        s.
    hyperparameters : {"optimize", "fixed"}, default None
        Whether they are fitted.
    restarts : int, default None
        Starts of which the best is kept.
    max_iterations : int, default None
        Most iterations of a fit.
    tolerance : float, default None
        Relative change at which it has converged; 0 runs all iterations.
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

    Examples
    --------
    >>> import subspectra as sp
    >>> X, y = sp.datasets.load("sonar", return_X_y=True)
    >>> sp.GPClassifier(hyperparameters="fixed", lengthscale=1.0, standardize=True).fit(X, y).predict_proba(X).shape
    (208, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "approximation": [str],
        "k": SIZES,
        **COMMON,
        **DISCRIMINANT,
        "ard": OPTIONAL_FLAG,
        "lengthscale": [Real, "array-like", None],
        "signal": OPTIONAL_NUMBER,
        "hyperparameters": OPTIONAL_TEXT,
        "restarts": OPTIONAL_COUNT,
        "max_iterations": OPTIONAL_COUNT,
        "tolerance": OPTIONAL_NUMBER,
    }

    def __init__(
        self,
        approximation: str = "laplace",
        k: Any = None,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        criterion: str | None = None,
        ridge: Any = None,
        n_components: int | None = None,
        ard: bool | None = None,
        lengthscale: Any = None,
        signal: float | None = None,
        hyperparameters: str | None = None,
        restarts: int | None = None,
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
        self.approximation = approximation
        self.k = k
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.criterion = criterion
        self.ridge = ridge
        self.n_components = n_components
        self.ard = ard
        self.lengthscale = lengthscale
        self.signal = signal
        self.hyperparameters = hyperparameters
        self.restarts = restarts
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.missing = missing
        self.standardize = standardize
        self.column_transform = column_transform
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _method_name(self) -> str:
        return "all" if self.k is None else "gp-ard"

    def _options(self, n_features: int | None, grouped: bool) -> dict[str, Any]:
        options = super()._options(n_features, grouped)
        options["classifier"] = f"gp-{self.approximation}"
        if self.k is None:
            options.pop("approximation")
        return options

    def fit(self, X: Any, y: Any = None) -> GPClassifier:
        """Train the Gaussian process.

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
