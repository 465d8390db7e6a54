"""An evaluation in parts that joblib runs wherever its backend does: processes, dask, Ray, Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from . import _core
from ._calls import contact
from ._errors import InvalidArgument
from ._files import read_table
from ._tables import table_of


def workers_asked_for(n_jobs: Any) -> int:
    """How many workers of joblib are to share the work; 1 where it stays in this process.

    It is shared where ``n_jobs`` is given and a backend was chosen (``joblib.parallel_config``): only a chosen one stays the same
    whichever kind is preferred. Work that runs in a worker already is not shared again.
    """
    if n_jobs is None:
        return 1
    backend = get_active_backend(prefer="threads")[0]
    chosen = type(backend) is type(get_active_backend(prefer="processes")[0])
    if not chosen or getattr(backend, "nesting_level", 0):
        return 1
    return int(joblib.effective_n_jobs(n_jobs))


def made(recipe: Mapping[str, Any]) -> _core.Table:
    """The table of a recipe, which travels in its place: a file by its name, or arrays."""
    if "path" in recipe:
        return read_table(recipe["path"], recipe["read"])
    return table_of(**recipe)


def _run_part(recipe: Mapping[str, Any], methods: list[tuple[str, str]], arguments: dict[str, Any], part: str) -> str:
    """What a worker does."""
    return _core.evaluate_part(made(recipe), methods, _core.CallOptions(**arguments), part, contact())


def evaluate_in_parts(
    recipe: Mapping[str, Any],
    table: _core.Table,
    methods: list[tuple[str, str]],
    arguments: dict[str, Any],
    of_parts: dict[str, Any],
    count: int,
    progress: Any,
) -> str:
    """The evaluation of one run from `count` tasks of joblib: `arguments` of the whole, `of_parts` of each."""
    if "time_limit" in of_parts["options"]:
        error = InvalidArgument("time_limit= would cut short parts that are put together as one run; leave it out, or n_jobs=None")
        error.field = "time_limit"
        raise error
    tasks = (joblib.delayed(_run_part)(recipe, methods, of_parts, f"{i + 1}/{count}") for i in range(count))
    parts = joblib.Parallel(n_jobs=count, batch_size=1, pre_dispatch="all")(tasks)
    return _core.merge_evaluation(table, methods, _core.CallOptions(**arguments), parts, contact(progress, "evaluate"))
