"""Data sets that come with the library, and tables in files as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from ._files import read_table

NAMES = ("sonar", "ionosphere")


def load(name: Any, *, return_X_y: bool = False, **options: Any) -> Any:
    """A table that the command line can read, as arrays.

    Parameters
    ----------
    name : str or path
        ``"sonar"`` or ``"ionosphere"`` (embedded), or a file: CSV, TSV, NPY, NPZ, LIBSVM, ARFF, ... The formats that are HDF5 or MAT
        are read by anndata, h5py and scipy.io.
    return_X_y : bool, default False
        Only X and y.
    **options
        Of reading: ``target="class"``, ``na=["-"]``, ``transpose=True``.

    Returns
    -------
    sklearn.utils.Bunch or (ndarray, ndarray)
        ``data``, ``target`` (texts, None without labels), ``feature_names``, ``target_names``.

    Examples
    --------
    >>> import subspectra as sp
    >>> sp.datasets.load("sonar").data.shape
    (208, 60)
    """
    table = read_table(name, options)
    X = table.matrix()
    y = None
    if len(table.classes):
        names = np.asarray([*table.classes, ""])  # the last one for a row without a label: code -1
        y = names[table.codes]
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, feature_names=list(table.names), target_names=list(table.classes))
