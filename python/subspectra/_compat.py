"""What differs between the versions of scikit-learn, from 1.2.1 on; nothing else in the package asks for a version."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.utils.fixes import parse_version

_VERSION = parse_version(sklearn.__version__)
HAS_TAG_OBJECTS = parse_version("1.6.dev0") <= _VERSION


def validated(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool, finite: bool = True, **rules: Any) -> Any:
    """``validate_data`` of scikit-learn, under the name and with the words of the version that is installed."""
    rules["ensure_all_finite" if HAS_TAG_OBJECTS else "force_all_finite"] = True if finite else "allow-nan"
    if HAS_TAG_OBJECTS:
        from sklearn.utils.validation import validate_data

        return validate_data(estimator, X, y, reset=reset, **rules)
    return estimator._validate_data(X, y, reset=reset, **rules)


class TagsMixin:
    """The tags of the package's estimators: what they take, said in the old way and in the new one."""

    def _allows_nan(self) -> bool:
        return getattr(self, "missing", None) not in (None, "error")

    def _needs_labels(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allows_nan()
        if self._needs_labels():
            tags.target_tags.required = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        tags: dict[str, Any] = {"allow_nan": self._allows_nan()}
        if self._needs_labels():
            tags["requires_y"] = True
        return tags
