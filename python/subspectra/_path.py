"""What a method found: sets of features by size, with their values and certificates."""

from __future__ import annotations

from typing import Any


class Path(list):
    """The sets of a result, ascending in size, as the records of the result file.

    A record is a dictionary: ``k``, ``features`` (0-based), ``names``, ``objective``, and where there is a bound ``upper_bound``,
    ``gap`` and ``certified``.
    """

    def at(self, k: int) -> dict[str, Any]:
        """The record of this size."""
        for record in self:
            if record["k"] == k:
                return record
        sizes = [record["k"] for record in self]
        raise KeyError(f"no set of size {k}; there are {sizes}")

    @property
    def sizes(self) -> list[int]:
        """The sizes there are."""
        return [record["k"] for record in self]

    def to_frame(self) -> Any:
        """A pandas data frame, one row a set; ``loadings`` and ``pool`` are left out."""
        import pandas as pd

        rows = [{key: value for key, value in record.items() if key not in ("loadings", "pool", "bounds")} for record in self]
        return pd.DataFrame(rows)


class Certificate(dict):
    """What is proven of a set: ``objective``, ``upper_bound``, ``gap``, ``certified``, ``bound``, ``status``.

    Where no bound is known ``upper_bound`` and ``gap`` are infinite.
    """

    @classmethod
    def of(cls, record: dict[str, Any], status: str) -> Certificate:
        upper = record.get("upper_bound", float("inf"))
        gap = record.get("gap", float("inf"))
        return cls(
            objective=record["objective"],
            upper_bound=upper,
            gap=float("inf") if gap is None else gap,
            certified=bool(record.get("certified", False)),
            bound=record.get("bound", ""),
            status=status,
        )

    def __str__(self) -> str:
        if self["certified"]:
            return f"objective {self['objective']:.6g}, proven to be the largest of its size"
        if self["gap"] == float("inf"):
            return f"objective {self['objective']:.6g}; no bound is known"
        return f"objective {self['objective']:.6g}, at most {self['upper_bound']:.6g} (gap {100 * self['gap']:.2g} %)"
