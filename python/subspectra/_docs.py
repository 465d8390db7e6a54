"""What parameters of several estimators mean, written down once; ``documented`` puts it into their docstrings."""

from __future__ import annotations

import re
from typing import TypeVar

SHARED: dict[str, tuple[str, str]] = {
    "include": (
        "list of str or int, default None",
        'Features that are always chosen (they count in k): names, patterns (``"gene_*"``) or column numbers.',
    ),
    "exclude": (
        "list of str or int, default None",
        "Features that are never chosen.",
    ),
    "groups": (
        "list, dict or path, default None",
        'Features that enter and leave together: a group for each feature ("" for one by itself), a dictionary of feature '
        "to group, or a CSV file ``feature,group``; k then counts groups.",
    ),
    "criterion": (
        '{"auto", "largest", "trace", "wilks"}, default None',
        "What a set is judged by, with T = M_S' B_S^-1 M_S: its largest eigenvalue, its trace, or log det(I + T).",
    ),
    "ridge": (
        'float, "auto", "cv" or "rel:F", default None',
        "Added to the diagonal of the within-class covariance: a number, or a fraction F of each column's own variance.",
    ),
    "n_components": (
        "int, default None",
        "Discriminants or components that are kept.",
    ),
    "classifier": (
        '{"lda", "svm", "knn", "gp-laplace", "gp-ep"}, default None',
        "The rule on the chosen features.",
    ),
    "classifier_options": (
        "dict, default None",
        'Its options, as ``subspectra fit --help`` lists them: ``{"C": 1.0}``.',
    ),
    "prior": (
        '{"empirical", "uniform"}, default None',
        "Class probabilities before a row is seen.",
    ),
    "shrinkage": (
        'float or "auto", default None',
        "How far the rule's correlations are pulled towards zero.",
    ),
    "missing": (
        '{"error", "mean", "median", "indicator", "drop"}, default None',
        "What is done with NaN.",
    ),
    "standardize": (
        "bool, default None",
        "Divide columns by their standard deviation first.",
    ),
    "column_transform": (
        '{"auto", "none", "asinh"}, default None',
        "What is done with columns whose values lie far apart.",
    ),
    "time_limit": (
        "float, default None",
        "Seconds after which the best so far is the answer.",
    ),
    "memory_limit": (
        "int or str, default None",
        'Bytes, or "4G": work that needs more is refused.',
    ),
    "random_state": (
        "int, RandomState or None, default 0",
        "Of every random choice.",
    ),
    "n_jobs": (
        "int, default None",
        "Threads. None: every core, but one inside a joblib worker.",
    ),
    "progress": (
        "bool or callable, default None",
        "True shows a bar; a function is called with (task, fraction, seconds, detail).",
    ),
    "pool": (
        "int, default None",
        "How many of the best sets are listed (exact).",
    ),
    "gap": (
        "float, default None",
        "Relative gap at which the proof may stop (exact).",
    ),
    "node_limit": (
        "int, default None",
        "Most nodes of the search tree (exact).",
    ),
    "lambda_": (
        'float, "path", "cv", "auto" or "auto:F", default None',
        "The weight of the penalty: a falling path of them (the default), chosen by cross-validation, a fraction of the "
        "largest, or a number. One that is given or chosen decides how many features there are, and ``k`` does not.",
    ),
    "lambdas": (
        "int, default None",
        "How many there are on a path.",
    ),
    "lambda_ratio": (
        "float, default None",
        "The smallest one of a path over the largest.",
    ),
    "max_iterations": (
        "int, default None",
        "Most iterations of a fit.",
    ),
    "tolerance": (
        "float, default None",
        "Relative change at which it has converged; 0 runs all iterations.",
    ),
    "start": (
        "str or array-like, default None",
        'Where an iteration starts: by name, a matrix, or ``"@file.npy"``, which holds one.',
    ),
    "restarts": (
        "int, default None",
        "Starts of which the best is kept.",
    ),
    "no_normalize": (
        "bool, default None",
        "Use the feature rows as they are given, neither centred nor of unit length.",
    ),
    "device": (
        '{"auto", "cpu", "cuda", "cuda:N"}, default None',
        "Where an exact search tries sets and greedy searches make their passes; auto takes a card where there is one and the work is "
        "worth it.",
    ),
    "certify": (
        "bool, default True",
        "Upper bounds beside the sets. On thousands of columns they can take longer than a greedy search itself.",
    ),
}

_SHARED_LINE = re.compile(r"^    shared : ((?:.|\n        )*)$", re.MULTILINE)
Class = TypeVar("Class", bound=type)


def documented(cls: Class) -> Class:
    """Replaces the line ``shared : name, name, ...`` of a class's parameters by what :data:`SHARED` says of these names.

    The signature is written out in every class, since scikit-learn and editors read it; a test compares the two.
    """
    if cls.__doc__ is None:  # python -OO
        return cls

    def entries(match: re.Match[str]) -> str:
        names = [name.strip() for name in match.group(1).split(",")]
        return "\n".join(f"    {name} : {SHARED[name][0]}\n        {SHARED[name][1]}" for name in names)

    cls.__doc__ = _SHARED_LINE.sub(entries, cls.__doc__)
    return cls
