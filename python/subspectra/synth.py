"""The papers' synthetic problems."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _core
from ._calls import RENAMED, plain


def synth(name: str, **options: Any) -> Any:
    """A synthetic problem, the same numbers as ``subspectra synth`` for the same options.

    Parameters
    ----------
    name : {"brownian", "brownian-pair", "gaussian-classes", "weston-linear", "weston-nonlinear", "clusters", "sessions", "bendor"}
        The problem.
    **options
        Its options: ``rows``, ``features``, ``classes``, ``seed`` (or ``random_state``), ...

    Returns
    -------
    (X, y) or dict of str to ndarray
        A table with its labels; of ``brownian-pair`` the matrices ``A`` and ``B``.

    Examples
    --------
    >>> import subspectra as sp
    >>> X, y = sp.synth("brownian", rows=50, features=20)
    >>> X.shape
    (50, 20)
    """
    values = {RENAMED.get(key, key.rstrip("_")): plain(value) for key, value in options.items() if value is not None}
    made = _core.synthesize(name, json.dumps(values))
    if isinstance(made, dict):
        return made
    y = None if not made.classes else np.asarray(made.classes)[made.codes]
    return made.matrix(), y
