"""The exceptions of the package, made by the bindings out of the library's own.

Every one is a ``ValueError`` or a ``RuntimeError``, so that code which knows nothing of this package catches it. The sentence names
options as Python writes them (``swaps=``).
"""

from __future__ import annotations


class SubspectraError(RuntimeError):
    """Something failed while running: memory, a disk."""


class InvalidArgument(ValueError):
    """An option or argument breaks its rule.

    Attributes
    ----------
    field : str
        The option or array, "" for a sentence about no single one.
    value : str
        What it was.
    rule : str
        What it breaks.
    way_out : str
        What to do instead; "" where the rule says it.
    """

    field: str = ""
    value: str = ""
    rule: str = ""
    way_out: str = ""


class BadInput(ValueError):
    """A file, or what stands in the data, breaks a rule of its format or of the method."""


class Infeasible(ValueError):
    """No set of features satisfies the constraints."""
