"""What the tests share: a small table, and the program to compare with."""

import os
import pathlib
import shutil

import numpy as np
import pytest
import subspectra as sp

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def sonar():
    return sp.datasets.load("sonar", return_X_y=True)


@pytest.fixture(scope="session")
def program():
    """The command line, which scripts/test builds first."""
    path = os.environ.get("SUBSPECTRA_PROGRAM") or shutil.which("subspectra") or ROOT / "build" / "release" / "subspectra"
    if not pathlib.Path(path).exists():
        pytest.skip("the command line is not built: cmake --build --preset release --target subspectra")
    return str(path)


@pytest.fixture
def rng():
    return np.random.default_rng(0)
