"""Tables in files. The core reads most formats; those that are HDF5, MAT or Parquet are read by the Python packages made for them, since
a wheel with an HDF5 of its own would break programs that load h5py beside it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from . import _core
from ._calls import call_options
from ._tables import encoded, table_of


def write_text(path: Any, text: str) -> None:
    """The file is written under another name first, then renamed: there is never half of one."""
    name = os.fspath(path)
    beside = f"{name}.{os.getpid()}.part"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, name)
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def left_out(exclude: Any) -> dict[str, Any]:
    """The reading option of features that are never chosen, by name: text columns among them are not read."""
    names = [exclude] if isinstance(exclude, str) else [name for name in ([] if exclude is None else exclude) if isinstance(name, str)]
    return {"exclude": names} if names else {}


def read_table(path: Any, options: Mapping[str, Any] | None = None) -> _core.Table:
    """The table in a file, or an embedded data set, with its labels where it has any.

    Parameters
    ----------
    path : str or path
        CSV, TSV, text, GCT, NPY, NPZ, LIBSVM, ARFF, Matrix Market, 10x folders; h5ad, MAT and Parquet with anndata, scipy (h5py for
        version 7.3) and pyarrow. ``"sonar"`` and ``"ionosphere"`` are embedded.
    options : dict, default None
        Of reading, as on the command line: ``target``, ``na``, ``transpose``, ...
    """
    options = dict(options or {})
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()
    reader = OTHER_READERS.get(ending)
    if reader is None or "format" in options:
        return _core.Table.read(name, call_options(options))
    if not os.path.exists(name):
        raise FileNotFoundError(f"{name}: there is no such file")
    target = options.pop("target", None)
    options.pop("exclude", None)
    if options:
        raise ValueError(f"{name}: {next(iter(options))}= is of formats that the core reads; leave it out")
    X, y, names = reader(name, target)
    codes, classes = _labels(y) if y is not None else (None, ())  # type: ignore[assignment]
    return table_of(X, codes=codes, classes=classes, names=names, source=name)


def _labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes and classes; -1 where there is no label."""
    y = np.asarray(y).ravel()
    missing = np.asarray([one is None or one != one or one == "" for one in y.tolist()])
    classes, found = encoded(y[~missing])
    codes = np.full(len(y), -1, dtype=np.int32)
    codes[~missing] = found
    return codes, classes


def _needs(package: str, ending: str) -> Any:
    try:
        return __import__(package)
    except ImportError as missing:
        raise ImportError(f"{ending} files are read by {package}; install it with: pip install 'subspectra[formats]'") from missing


def _numbers(X: Any) -> Any:
    return X.tocsc().astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def _h5ad(name: str, target: str | None) -> tuple[Any, Any, list[str]]:
    data = _needs("anndata", ".h5ad").read_h5ad(name)
    if target == "none":
        y = None
    elif target is not None:
        if target not in data.obs:
            raise ValueError(f"{name}: obs has no column {target!r}; there are {', '.join(data.obs.columns)}")
        y = data.obs[target].to_numpy()
    else:
        y = data.obs["class"].to_numpy() if "class" in data.obs else None
    return _numbers(data.X), y, [str(gene) for gene in data.var_names]


def _mat(name: str, target: str | None) -> tuple[Any, Any, None]:
    from scipy.io import loadmat

    try:
        arrays = loadmat(name)
    except NotImplementedError:  # version 7.3 is HDF5, whose arrays stand the other way round
        with _needs("h5py", ".mat (version 7.3)").File(name, "r") as file:
            arrays = {key: np.asarray(value).T for key, value in file.items() if hasattr(value, "shape")}
    if "X" not in arrays:
        raise ValueError(f"{name}: there is no array X; there are {', '.join(key for key in arrays if not key.startswith('_'))}")
    own = next((key for key in (target, "Y", "y") if key and key in arrays), None)
    y = None if target == "none" or own is None else np.asarray(arrays[own]).ravel()
    return _numbers(arrays["X"]), y, None


def _parquet(name: str, target: str | None) -> tuple[Any, Any, list[str]]:
    _needs("pyarrow", ".parquet")
    import pyarrow.parquet as parquet
    import pyarrow.types as types

    table = parquet.read_table(name)
    numeric = {
        field.name: types.is_integer(field.type) or types.is_floating(field.type) or types.is_boolean(field.type) for field in table.schema
    }
    if target is None:
        texts = [column for column, is_number in numeric.items() if not is_number]
        target = "class" if "class" in numeric else (texts[-1] if texts else None)
    y = None
    if target not in (None, "none"):
        if target not in numeric:
            raise ValueError(f"{name}: there is no column {target!r}; the last ones are {', '.join(list(numeric)[-5:])}")
        y = np.asarray(table[target].to_pylist(), dtype=object)
        table = table.drop_columns([target]) if hasattr(table, "drop_columns") else table.drop([target])
    text = [column for column in table.column_names if not numeric[column]]
    if text:
        raise ValueError(f"{name}: column {text[0]!r} holds no numbers; encode it, or name the labels with target=")
    numbers, names = _core.arrow_stream(table.__arrow_c_stream__())
    return numbers, y, list(names)


# What is read by the packages made for it; every other file by the core.
OTHER_READERS = {".h5ad": _h5ad, ".mat": _mat, ".parquet": _parquet}
