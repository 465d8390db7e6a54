"""What all estimators share: parameters that become options, a table that becomes a fit, and what is known after it.

An estimator only stores its parameters; ``fit`` checks their types (scikit-learn's rules), the core checks their values (its own rules,
whose sentences name the parameters). ``None`` stands for the library's default everywhere, so that defaults are written down once.
"""

from __future__ import annotations

import json
import os
from numbers import Integral, Real
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _core
from ._calls import call_options, contact, warn_of
from ._compat import TagsMixin, validated
from ._files import left_out, read_table, write_text
from ._html import ReprMixin
from ._path import Certificate, Path
from ._tables import encoded, from_arrow, is_path, names_of, table_of
from .plots import PlotMixin

OPTIONAL_TEXT = [str, None]
OPTIONAL_NUMBER = [Real, None]
OPTIONAL_COUNT = [Integral, None]
OPTIONAL_FLAG = ["boolean", None]
NUMBER_OR_TEXT = [Real, str, None]
LIST_OF_FEATURES = ["array-like", str, None]
START = [str, "array-like", None]
SIZES = [Integral, str, range, "array-like", None]

# The parameters that every estimator has.
COMMON: dict[str, Any] = {
    "include": LIST_OF_FEATURES,
    "exclude": LIST_OF_FEATURES,
    "missing": OPTIONAL_TEXT,
    "standardize": OPTIONAL_FLAG,
    "column_transform": OPTIONAL_TEXT,
    "time_limit": OPTIONAL_NUMBER,
    "memory_limit": NUMBER_OR_TEXT,
    "random_state": ["random_state"],
    "n_jobs": OPTIONAL_COUNT,
    "progress": [callable, "boolean", None],
}
# Those of a search on discriminants, and of the rule that is trained on what it chose.
DISCRIMINANT: dict[str, Any] = {
    "groups": [str, dict, "array-like", None],
    "criterion": OPTIONAL_TEXT,
    "ridge": NUMBER_OR_TEXT,
    "n_components": OPTIONAL_COUNT,
}
RULE: dict[str, Any] = {
    "classifier": OPTIONAL_TEXT,
    "classifier_options": [dict, None],
    "prior": OPTIONAL_TEXT,
    "shrinkage": NUMBER_OR_TEXT,
}


class Selecting(TagsMixin, ReprMixin, PlotMixin, SelectorMixin, BaseEstimator):
    """A selector on the core: the parts of ``fit`` and what is known afterwards."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _not_options: ClassVar[frozenset[str]] = frozenset({"progress", "method", "variant", "classifier_options"})

    if TYPE_CHECKING:  # parameters are stored by name

        def __getattr__(self, name: str) -> Any: ...

    # --- before a fit

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """As scikit-learn finds them out, once a class: reading a signature takes longer than a small fit."""
        if "_own_parameters" not in cls.__dict__:
            cls._own_parameters = super()._get_param_names()
        return list(cls._own_parameters)

    def _store(self, given: dict[str, Any]) -> None:
        """All that ``__init__`` does: every parameter as an attribute of its name."""
        for name in self._parameter_constraints:
            setattr(self, name, given[name])

    def _method_name(self) -> str:
        """The method as the registry of the core names it."""
        raise NotImplementedError

    def _options(self, n_features: int | None, grouped: bool) -> dict[str, Any]:
        """The parameters that are options, by name."""
        options = {name: getattr(self, name) for name in self._get_param_names() if name not in self._not_options}
        options.update(getattr(self, "classifier_options", None) or {})
        k = options.get("k")
        if isinstance(k, (int, np.integer)) and n_features is not None and k > n_features and not grouped:
            import warnings

            warnings.warn(f"k={k} is greater than n_features={n_features}: as many as can be are selected", UserWarning, stacklevel=5)
            options["k"] = n_features
        return options

    def _call_options(self, names: list[str] | None, count: int | None) -> _core.CallOptions:
        grouped = getattr(self, "groups", None) is not None
        return call_options(self._options(count, grouped), names=names, count=count)

    def _check(self, X: Any, y: Any, *, reset: bool) -> Any:
        """X (and y) as the core takes them; the names of its columns are kept where it has any."""
        rules: dict[str, Any] = dict(accept_sparse=["csc", "csr"], dtype=np.float64, finite=not self._allows_nan(), reset=reset)
        if reset:
            rules["ensure_min_samples"] = 2
        return validated(self, X, y, **rules)

    def _named(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _read_table(self, path: Any) -> _core.Table:
        """The table in a file, as the command line reads it: with its labels, be they used or not."""
        table = read_table(path, left_out(self.exclude))
        self.n_features_in_ = table.features
        self.feature_names_in_ = np.asarray(table.names, dtype=object)
        return table

    # --- after a fit

    def _keep_selection(self, text: str) -> None:
        """The attributes that a selection result gives."""
        result = json.loads(text)
        self.result_ = result
        self.status_ = result["status"]
        self.path_ = Path(result["path"])
        for name in ("ranking_", "weights_", "objective_", "upper_bound_", "certificate_"):
            if hasattr(self, name):
                delattr(self, name)
        if "ranking" in result:
            self.ranking_ = np.asarray(result["ranking"], dtype=np.intp)
        if "weights" in result:
            self.weights_ = np.asarray(result["weights"], dtype=np.float64)
        if self.path_:
            self.certificate_ = Certificate.of(self.path_[-1], self.status_)
            self.objective_ = self.certificate_["objective"]
            self.upper_bound_ = self.certificate_["upper_bound"]

    def _keep_support(self, features: Any) -> None:
        """The chosen columns; a column that only says where values are missing stands for the one it speaks of."""
        names = self.result_["data"].get("names") if hasattr(self, "result_") else None
        chosen = set()
        for j in features:
            if j >= self.n_features_in_ and names:
                base = names[j].removesuffix(" is missing")
                j = names.index(base) if base in names else j
            if j < self.n_features_in_:
                chosen.add(int(j))
        self.features_ = np.asarray(sorted(chosen), dtype=np.intp)

    def _keep_loadings(self) -> None:
        """``coef_``: the discriminants or components on all features, a row each."""
        if "discriminants" in self.result_:
            features, matrix = self.result_["discriminants"]["features"], self.result_["discriminants"]["matrix"]
        elif self.path_ and "loadings" in self.path_[-1]:
            features, matrix = self.path_[-1]["features"], self.path_[-1]["loadings"]
        else:
            return
        matrix = np.asarray(matrix, dtype=np.float64).reshape(len(features), -1)
        coefficients = np.zeros((matrix.shape[1], max([self.n_features_in_, *(j + 1 for j in features)])))
        coefficients[:, features] = matrix.T
        self.coef_ = coefficients[:, : self.n_features_in_]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "features_")  # not by names in _: `lambda_` is a parameter

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "features_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.features_] = True
        return mask

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the chosen columns.

        Parameters
        ----------
        input_features : array-like of str, default None
            Names of all columns, where those of the fit are not to be used.

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self, "features_")
        return super().get_feature_names_out(input_features)

    def transform(self, X: Any) -> Any:
        """The chosen columns of X.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_selected_features)
            Of what X is: dense, sparse, or by ``set_output`` a frame.
        """
        check_is_fitted(self, "features_")
        if is_path(X):
            return read_table(X).matrix()[:, self.features_]
        X, _ = from_arrow(X)
        return super().transform(X)

    @property
    def explained_(self) -> str:
        """What was chosen and what is known of it, in a sentence or two."""
        check_is_fitted(self, "features_")
        names = self._named()
        shown = [names[j] if names else f"x{j}" for j in self.features_[:10]]
        more = f" and {len(self.features_) - 10} more" if len(self.features_) > 10 else ""
        text = f"{len(self.features_)} of {self.n_features_in_} features: {', '.join(shown)}{more}"
        if hasattr(self, "certificate_"):
            text += f"; {self.certificate_}"
        error = self._honest_error()
        if error is not None:
            text += f"; error on new rows {error[0]:.3f} ± {error[1]:.3f} ({error[2]})"
        return text + "."

    def _honest_error(self) -> tuple[float, float, str] | None:
        """The cross-validated error that the fit knows of, its standard error, and how it was measured."""
        return None


class SelectingClassifier(ClassifierMixin, Selecting):
    """A selector whose choice is followed by a rule: ``fit`` is the command line's ``fit``, ``predict`` its ``predict``."""

    def _needs_labels(self) -> bool:
        return True

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self._validate_params()
        if is_path(X):
            table = self._read_table(X)
            classes = np.asarray(table.classes, dtype=object)
            self.classes_ = classes.astype(str) if len(classes) else classes
            self._class_texts: list[str] | None = list(table.classes)
        else:
            table = self._labelled_table(X, y, sample_weight)
        fitted = _core.fit(
            table,
            self._method_name(),
            self._call_options(self._named(), self.n_features_in_),
            contact(self.progress, type(self).__name__),
        )
        self._model = Model(fitted)
        self._keep_selection(fitted.selection)
        self.status_ = fitted.status
        self.evaluation_ = json.loads(fitted.evaluation) if fitted.evaluation else None
        self._keep_model(fitted)
        self._keep_loadings()
        self.note_ = fitted.note
        warn_of(fitted.warnings, fitted.status, type(self).__name__)
        return self

    def _labelled_table(self, X: Any, y: Any, sample_weight: Any) -> _core.Table:
        X, names = from_arrow(X)
        X, y = self._check(X, y, reset=True)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        check_classification_targets(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
            if np.any(sample_weight < 0):
                raise ValueError("sample_weight holds a negative weight; give weights from 0 up")
            used = sample_weight > 0
            if not np.any(used):
                raise ValueError("sample_weight is zero for every row; give at least one weight above zero")
            if not np.all(used):
                X, y, sample_weight = X[used], y[used], sample_weight[used]
        self.classes_, codes = encoded(y)
        table = table_of(X, codes=codes, classes=self.classes_, names=self._named(), weights=sample_weight)
        self._class_texts = None
        return table

    def _keep_model(self, fitted: _core.Fitted) -> None:
        """What the model file says of columns and classes."""
        model = json.loads(fitted.file)
        self.k_ = fitted.k
        self.chosen_by_ = model.get("chosen_by", {})
        texts = self._class_texts
        if texts is None:
            from ._tables import class_text

            texts = [class_text(c) for c in self.classes_]
        place = {text: i for i, text in enumerate(texts)}
        # Of every class of the model (the library sorts numbers by value) its place among classes_.
        self._order = np.asarray([place[text] for text in model["classes"]], dtype=np.intp)
        self._keep_support(model["features"])

    def _honest_error(self) -> tuple[float, float, str] | None:
        chosen = self.chosen_by_ or {}
        if "error" in chosen:
            return chosen["error"], chosen["stderr"], f"{chosen.get('cv', 5)}-fold, chosen inside the training rows"
        used = chosen.get("used")
        for candidate in chosen.get("candidates", []):
            if used and candidate["method"] == used["method"]:
                return candidate["error"], candidate["stderr"], f"{chosen['folds_run']} inner folds, which also made the choice"
        return None

    def _new_rows(self, X: Any) -> _core.Table:
        if is_path(X):
            return read_table(X)
        X, names = from_arrow(X)
        if getattr(self, "_loaded", False):
            from sklearn.utils import check_array

            names = names or names_of(X)
            finite = {"ensure_all_finite" if _has_new_words() else "force_all_finite": not self._allows_nan() or "allow-nan"}
            return table_of(check_array(X, accept_sparse=["csc", "csr"], dtype=np.float64, **finite), names=names)
        return table_of(self._check(X, "no_validation", reset=False), names=self._named())

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, columns as in ``classes_``.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "_model")
        answers = self._model.fitted.predict_proba(self._new_rows(X))
        if np.array_equal(self._order, np.arange(len(self.classes_))):
            return answers
        sorted_answers = np.zeros((answers.shape[0], len(self.classes_)))
        sorted_answers[:, self._order] = answers
        return sorted_answers

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every row, of equal ones the first in the model file.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or path of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "_model")
        answers = self._model.fitted.predict_proba(self._new_rows(X))
        return self.classes_[self._order[np.argmax(answers, axis=1)]]

    def to_json(self, path: Any = None) -> str:
        """The model file, which ``subspectra predict`` reads, as a text; also written to `path` where that is given."""
        check_is_fitted(self, "_model")
        text = self._model.fitted.file
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_json(cls, source: Any) -> Any:
        """An estimator that predicts as the model file does, be it from Python or from ``subspectra fit``.

        Parameters
        ----------
        source : str or path
            The text of a model file, or its name.

        Returns
        -------
        estimator
            Fitted: ``predict``, ``predict_proba``, ``transform`` and ``get_support`` work; what the file does not hold (the path,
            certificates) is not there. Classes that are all whole numbers are integers, any others texts.
        """
        is_text = isinstance(source, str) and source.lstrip().startswith("{")
        fitted = _core.Fitted.from_json(source) if is_text else _core.Fitted.from_file(os.fspath(source))
        model = json.loads(fitted.file)
        estimator = cls()
        estimator._model = Model(fitted)
        estimator._loaded = True
        texts = model["classes"]
        whole = all(t.lstrip("-").isdigit() and str(int(t)) == t for t in texts)
        estimator.classes_ = np.unique(np.asarray([int(t) for t in texts] if whole else texts))
        estimator._class_texts = [str(c) for c in estimator.classes_]
        estimator.n_features_in_ = model["training"]["features"]
        estimator.status_ = fitted.status
        estimator.evaluation_ = None
        estimator.note_ = ""
        estimator._keep_model(fitted)
        return estimator


def _has_new_words() -> bool:
    from ._compat import HAS_TAG_OBJECTS

    return HAS_TAG_OBJECTS


class Model:
    """The trained model of the core; its state, for pickles and other machines, is the model file."""

    def __init__(self, fitted: _core.Fitted) -> None:
        self.fitted = fitted

    def __reduce__(self) -> Any:
        return Model._read, (self.fitted.file,)

    @staticmethod
    def _read(text: str) -> Model:
        return Model(_core.Fitted.from_json(text))


class SelectingUnsupervised(Selecting):
    """A selector whose answer is a selection result: ``fit`` is the command line's ``select``."""

    def _labels_of(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """X, the class of every row and the classes; None where labels are not used."""
        X = self._check(X, "no_validation", reset=True)
        return X, None, ()

    def _select(self, X: Any, y: Any = None, sample_weight: Any = None) -> _core.Table:
        """Runs the method; sets what a result file gives."""
        self._validate_params()
        if is_path(X):
            table = self._read_table(X)
        else:
            X, names = from_arrow(X)
            X, codes, classes = self._labels_of(X, y)
            if names is not None:
                self.feature_names_in_ = np.asarray(names, dtype=object)
            weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
            table = table_of(X, codes=codes, classes=classes, names=self._named(), weights=weights)
        text = _core.select(
            table,
            self._method_name(),
            self._call_options(self._named(), self.n_features_in_),
            contact(self.progress, type(self).__name__),
        )
        self._keep_selection(text)
        self._keep_loadings()
        warn_of(self.result_["warnings"], self.status_, type(self).__name__)
        return table

    def to_json(self, path: Any = None) -> str:
        """The result file, which ``subspectra verify`` and ``subspectra report`` read; also written to `path` where that is given."""
        check_is_fitted(self, "result_")
        text = json.dumps(self.result_, indent=2) + "\n"
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_json(cls, source: Any) -> Any:
        """A selector from a result file (its text or its name), as ``subspectra select -o`` writes it."""
        is_text = isinstance(source, str) and source.lstrip().startswith("{")
        text = source if is_text else FilePath(source).read_text(encoding="utf-8")
        estimator = cls()
        estimator.n_features_in_ = json.loads(text)["data"]["features"]
        estimator._keep_selection(text)
        estimator._keep_loadings()
        estimator._choose_support()
        return estimator

    def _choose_support(self) -> None:
        """The set of the largest size."""
        if not self.path_:
            raise ValueError(f"{self._method_name()} found no set; {'; '.join(self.result_['warnings']) or 'ask for another size with k='}")
        self._keep_support(self.path_[-1]["features"])
        self.k_ = self.path_[-1]["k"]


__all__ = ["COMMON", "DISCRIMINANT", "RULE", "SIZES", "Model", "Selecting", "SelectingClassifier", "SelectingUnsupervised"]
