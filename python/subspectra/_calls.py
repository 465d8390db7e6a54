"""How a call of the core is put together: options as JSON by their names, who hears of progress, what an interrupt does."""

from __future__ import annotations

import contextlib
import json
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import _core
from ._tables import as_matrix

# What Python calls otherwise than the library: convention, or a word (or a method) that is taken.
RENAMED = {
    "random_state": "seed",
    "n_jobs": "threads",
    "n_clusters": "clusters",
    "n_components": "components",
    "column_transform": "transform",
}
STOPPED = {"time_limit", "node_limit", "memory_limit", "iteration_limit", "interrupted"}

_keep = threading.local()


@contextlib.contextmanager
def best_so_far() -> Iterator[None]:
    """Within it Ctrl-C ends a call with the best answer so far and a ``ConvergenceWarning``.

    Elsewhere it raises ``KeyboardInterrupt``, as everywhere in Python, after at most half a second.

    Examples
    --------
    >>> import subspectra as sp
    >>> X, y = sp.datasets.load("sonar", return_X_y=True)
    >>> with sp.best_so_far():
    ...     found = sp.select(X, y, method="gslda", k=5)
    """
    before = getattr(_keep, "on", False)
    _keep.on = True
    try:
        yield
    finally:
        _keep.on = before


def bar(description: str) -> Callable[[str, float, float, str], None]:
    """A progress bar of tqdm, or where that is missing a line on stderr now and then."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        import sys

        def show(task: str, fraction: float, elapsed: float, detail: str) -> None:
            share = f"{100 * fraction:3.0f} %" if fraction >= 0 else f"{elapsed:.1f} s"
            print(f"{description or task} {share} {detail}", file=sys.stderr)

        return show
    line = tqdm(total=1.0, desc=description, leave=False, bar_format="{desc} {percentage:3.0f} %|{bar}| {postfix}")

    def advance(task: str, fraction: float, elapsed: float, detail: str) -> None:
        line.set_postfix_str(detail, refresh=False)
        line.n = max(0.0, fraction)
        line.refresh()

    return advance


def contact(progress: Any = None, description: str = "") -> _core.Contact:
    """Who is told of progress (None, True, or a function of task, fraction, seconds and a detail)."""
    reporter = bar(description) if progress is True else (progress or None)
    listens = threading.current_thread() is threading.main_thread()
    return _core.Contact(reporter, listens, bool(getattr(_keep, "on", False)))


def threads_of(n_jobs: Any) -> int:
    """`n_jobs` as a number of threads: 0 stands for every core that this process may use.

    None is one thread inside a joblib worker, where the cores are shared out already, and else every core that the affinity mask and
    the control group leave; negative numbers count from the end as in joblib.
    """
    import joblib

    if n_jobs is None:
        backend = joblib.parallel.get_active_backend()[0]
        inside = getattr(backend, "nesting_level", 0) or 0
        return 1 if inside > 0 else joblib.cpu_count()
    if n_jobs < 0:
        return max(1, joblib.cpu_count() + 1 + n_jobs)
    return int(n_jobs)


def seed_of(random_state: Any) -> int:
    """A whole number as it is; a generator or None draws one."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def sizes_text(k: Any) -> Any:
    """`k` as the library writes it: 10, "1:10", "1:20:5", "2,5,9"; "cv" and None ask for nothing."""
    if k is None or (isinstance(k, str) and k == "cv"):
        return None
    if isinstance(k, range):
        if len(k) == 0:
            raise ValueError("k= is an empty range; ask for one size at least")
        last = k[-1]
        return f"{k[0]}:{last}:{k.step}" if k.step != 1 and len(k) > 1 else f"{k[0]}:{last}"
    if isinstance(k, (list, tuple, np.ndarray)):
        return ",".join(str(int(size)) for size in k)
    return k


def plain(value: Any) -> Any:
    """A value that JSON has."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(str(plain(v)) for v in value)
    if isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def names_from(chosen: Any, names: list[str] | None, count: int | None) -> list[str]:
    """Features that are named or numbered, as names."""
    if chosen is None:
        return []
    if isinstance(chosen, str):
        chosen = [chosen]
    listed = []
    for one in chosen:
        if isinstance(one, (int, np.integer)) and not isinstance(one, bool):
            if count is not None and not -count <= one < count:
                raise ValueError(f"feature {int(one)} is asked for, but there are {count}, from 0 to {count - 1}")
            j = int(one) % count if count is not None else int(one)
            listed.append(names[j] if names else f"x{j}")
        else:
            listed.append(str(one))
    return listed


def groups_from(groups: Any, names: list[str] | None, count: int | None) -> list[str]:
    """The group of every feature, as texts, from a list with one entry a feature or a mapping of feature to group."""
    if groups is None:
        return []
    if isinstance(groups, Mapping):
        all_names = names or [f"x{j}" for j in range(count or 0)]
        known = {names_from([key], names, count)[0]: group for key, group in groups.items()}
        unknown = set(known) - set(all_names)
        if unknown:
            raise ValueError(f"groups= names {sorted(unknown)[0]!r}, but no feature has that name")
        return ["" if known.get(name) is None else str(known[name]) for name in all_names]
    return ["" if group is None else str(group) for group in groups]


def call_options(options: Mapping[str, Any], *, names: list[str] | None = None, count: int | None = None) -> _core.CallOptions:
    """Keywords as the core takes them; None is left out, which is the library's own default."""
    return _core.CallOptions(**call_arguments(options, names=names, count=count))


def call_arguments(
    options: Mapping[str, Any],
    *,
    names: list[str] | None = None,
    count: int | None = None,
    read: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What ``CallOptions`` is made of, which other processes understand; `read` is how the table was read from its file."""
    values: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    for name, value in options.items():
        if name == "n_jobs" and "threads" not in options:
            values["threads"] = threads_of(value)
        elif name == "random_state":
            values["seed"] = seed_of(value)
        elif name == "certify":
            if not value:
                lists[name] = False
        elif name in ("include", "exclude"):
            lists[name] = names_from(value, names, count)
        elif name == "groups":
            if isinstance(value, str):
                values["groups"] = value
            else:
                lists["feature_groups"] = groups_from(value, names, count)
        elif name == "start" and value is not None and not isinstance(value, str):
            lists["start"] = as_matrix(value, "start=")
        elif name == "k":
            size = sizes_text(value)
            if size is not None:
                values["k"] = plain(size)
        elif value is not None:
            values[RENAMED.get(name, name.rstrip("_"))] = plain(value)
    if read:
        lists["read"] = json.dumps({name: plain(value) for name, value in read.items() if value is not None and name != "exclude"})
    return {"options": json.dumps(values), **lists}


def warn_of(texts: list[str], status: str, who: str) -> None:
    """What the library warns of, and that it was stopped, as Python warnings at the caller's line."""
    for text in texts:
        warnings.warn(text, UserWarning, stacklevel=4)
    if status in STOPPED:
        warnings.warn(f"{who} ended with status {status}: the answer is the best so far", ConvergenceWarning, stacklevel=4)
