"""Gaussian processes: length-scales as relevance, and a rule with honest probabilities."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from ._base import COMMON, DISCRIMINANT, OPTIONAL_COUNT, OPTIONAL_FLAG, OPTIONAL_NUMBER, OPTIONAL_TEXT, SIZES, SelectingClassifier
from ._docs import documented


@documented
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
    shared : include, exclude, groups, criterion, ridge, n_components
    ard : bool, default None
        A length-scale for each feature in the rule.
    lengthscale : float or list, default None
        Where the length-scales start, or are fixed.
    signal : float, default None
        s.
    hyperparameters : {"optimize", "fixed"}, default None
        Whether they are fitted.
    shared : restarts, max_iterations, tolerance, missing, standardize, column_transform, time_limit, memory_limit, random_state,
        n_jobs, progress

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
        self._store(locals())

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
