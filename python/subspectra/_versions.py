"""What is installed, for a report of a problem."""

from __future__ import annotations

import platform
import sys

from . import _core


def show_versions() -> None:
    """Print the versions of the package, of what its core was built with, and of what it runs beside."""
    print("subspectra:", _core.version())
    print("python:", sys.version.replace("\n", " "))
    print("machine:", platform.platform())
    for name in ("numpy", "scipy", "sklearn", "joblib", "pandas", "polars", "matplotlib", "nanobind_backend"):
        try:
            module = __import__(name)
        except ImportError:
            continue
        print(f"{name}:", getattr(module, "__version__", "installed"))
    print(_core.build_lines().rstrip())
