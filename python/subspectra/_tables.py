"""From what users have, arrays, frames, sparse matrices, Arrow streams and paths, to a table of the library.

A float64 array is viewed where it lies, whatever its strides; everything else is converted once.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse

from . import _core


def is_path(X: Any) -> bool:
    """Whether `X` names a file (or an embedded data set) rather than being the data."""
    return isinstance(X, (str, os.PathLike))


def from_arrow(X: Any) -> Any:
    """A NumPy array of an Arrow stream's columns, with their names; anything else as it is.

    Data frames that scikit-learn understands itself (pandas, polars) are left to it.
    """
    if not hasattr(X, "__arrow_c_stream__") or hasattr(X, "__array__") or hasattr(X, "iloc"):
        return X, None
    numbers, names = _core.arrow_stream(X.__arrow_c_stream__())
    return numbers, list(names)


def names_of(X: Any) -> list[str] | None:
    """The column names of a frame where all of them are texts."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def class_text(label: Any) -> str:
    """A class as the library and its files name it: 1 and 1.0 are "1"."""
    if isinstance(label, (bool, np.bool_)):
        return str(bool(label))
    if isinstance(label, (int, np.integer)):
        return str(int(label))
    if isinstance(label, (float, np.floating)):
        return str(int(label)) if float(label).is_integer() else repr(float(label))
    return str(label)


def _indices(numbers: Any) -> np.ndarray:
    return np.ascontiguousarray(numbers, dtype=np.int32)


def table_of(
    X: Any,
    *,
    codes: Any = None,
    classes: Any = (),
    names: Any = None,
    weights: Any = None,
    groups: Any = (),
    source: str = "",
) -> _core.Table:
    """A table of the library on a dense float64 array (viewed) or a sparse matrix (its columns compressed)."""
    beside = _core.Beside(
        codes=None if codes is None else _indices(codes),
        classes=[class_text(c) for c in classes],
        names=[] if names is None else [str(name) for name in names],
        weights=None if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        groups=[str(g) for g in groups],
        source=source,
    )
    if not sparse.issparse(X):
        return _core.Table.dense(np.asarray(X), beside)
    columns = X.tocsc()
    if not columns.has_canonical_format:
        columns = columns.copy() if columns is X else columns
        columns.sum_duplicates()
    if columns.nnz > np.iinfo(np.int32).max:
        raise ValueError(f"X has {columns.nnz} stored values, but at most {np.iinfo(np.int32).max} can be indexed; give fewer columns")
    return _core.Table.sparse(
        *columns.shape,
        _indices(columns.indptr),
        _indices(columns.indices),
        np.ascontiguousarray(columns.data, dtype=np.float64),
        beside,
    )


def encoded(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes, sorted as NumPy sorts them, and the place of every label among them."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    return classes, codes.reshape(-1)


def as_matrix(A: Any, name: str) -> np.ndarray:
    """A matrix as float64, without a copy where it is one."""
    matrix = np.asarray(A, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"{name} has {matrix.ndim} dimensions, but a matrix has two")
    return matrix
