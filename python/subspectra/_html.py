"""How an estimator shows itself in a notebook: the set, what is proven of it, and the honest error."""

from __future__ import annotations

from html import escape
from typing import Any

_STYLE = "border-collapse:collapse;font-size:0.9em"


class ReprMixin:
    """An HTML page of a fitted estimator; before the fit scikit-learn's diagram."""

    def _repr_html_(self) -> str:
        if not hasattr(self, "features_"):
            from sklearn.utils import estimator_html_repr

            return estimator_html_repr(self)
        rows = [("features", f"{len(self.features_)} of {self.n_features_in_}")]  # type: ignore[attr-defined]
        certificate = getattr(self, "certificate_", None)
        if certificate is not None:
            rows.append(("certificate", str(certificate)))
        error = self._honest_error()  # type: ignore[attr-defined]
        if error is not None:
            rows.append(("error on new rows", f"{error[0]:.4f} ± {error[1]:.4f} ({error[2]})"))
        rows.append(("status", self.status_))  # type: ignore[attr-defined]
        head = "".join(f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(str(b))}</td></tr>" for a, b in rows)
        names = self._named()  # type: ignore[attr-defined]
        chosen = "".join(
            f"<li>{escape(names[j] if names else f'x{j}')} <small>({j})</small></li>"
            for j in self.features_[:50]  # type: ignore[attr-defined]
        )
        more = "" if len(self.features_) <= 50 else f"<p>and {len(self.features_) - 50} more</p>"  # type: ignore[attr-defined]
        title = escape(repr(self))
        return (
            f"<div><pre>{title}</pre><table style='{_STYLE}'>{head}</table>"
            f"<details><summary>the features</summary><ol>{chosen}</ol>{more}</details></div>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
