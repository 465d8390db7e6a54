"""The default: a choice among a search, a group lasso and a filter, made inside the training rows."""

from __future__ import annotations

from typing import Any, ClassVar

from ._base import COMMON, DISCRIMINANT, OPTIONAL_TEXT, RULE, SIZES, SelectingClassifier
from ._docs import documented


@documented
class SparseClassifier(SelectingClassifier):
    """A classifier on few features that chooses its method, size, ridge and penalty itself.

    A search over sets, a group lasso and a filter are compared, with their sizes, on rows held out inside the training rows; the simplest
    of the best is trained on all of them. ``chosen_by_`` says what was compared.

    Parameters
    ----------
    k : int, range or list of int, default None
        The sizes that may be chosen; None leaves that free, too.
    shared : include, exclude, groups, criterion, ridge, n_components, classifier, classifier_options, prior, shrinkage, device,
        missing, standardize, column_transform, time_limit, memory_limit, random_state, n_jobs, progress

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
    >>> model = sp.SparseClassifier(k=[2, 4]).fit(X, y)
    >>> sorted(model.chosen_by_["used"])
    ['k', 'lambda', 'method', 'ridge', 'shrinkage', 'transform']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": SIZES,
        **COMMON,
        **DISCRIMINANT,
        **RULE,
        "device": OPTIONAL_TEXT,
    }

    def __init__(
        self,
        k: Any = None,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        criterion: str | None = None,
        ridge: Any = None,
        n_components: int | None = None,
        classifier: str | None = None,
        classifier_options: dict[str, Any] | None = None,
        prior: str | None = None,
        shrinkage: Any = None,
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
        return "auto"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SparseClassifier:
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
