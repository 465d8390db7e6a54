"""
The bindings of the C++ library; subspectra's own modules are what to use.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class CallOptions:
    """What a call is told: options as JSON, and lists of feature names."""

    def __init__(self, options: str = '{}', include: Sequence[str] = [], exclude: Sequence[str] = [], feature_groups: Sequence[str] = [], certify: bool = True, start: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)] | None = None, read: str = '{}') -> None: ...

class Contact:
    """Who is told of progress, and what an interrupt does."""

    def __init__(self, progress: object | None, listens: bool, keeps_best: bool) -> None: ...

class Beside:
    """What comes with a table: labels, names, weights, groups of rows."""

    def __init__(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, classes: Sequence[str] = [], names: Sequence[str] = [], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, groups: Sequence[str] = [], source: str = '') -> None: ...

class Table:
    """A table of the library: a view of arrays, or what a file holds."""

    @staticmethod
    def dense(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], beside: Beside) -> Table: ...

    @staticmethod
    def sparse(rows: int, cols: int, outer: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], inner: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beside: Beside) -> Table: ...

    @staticmethod
    def read(path: str, call_options: CallOptions) -> Table: ...

    @property
    def rows(self) -> int: ...

    @property
    def features(self) -> int: ...

    @property
    def address(self) -> int:
        """Where the numbers stand: tells a view from a copy."""

    @property
    def source(self) -> str: ...

    @property
    def is_sparse(self) -> bool: ...

    @property
    def names(self) -> list[str]: ...

    @property
    def classes(self) -> list[str]: ...

    @property
    def codes(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def warnings(self) -> list[str]: ...

    def matrix(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """The numbers: a copy."""

class Matrices:
    """Covariance matrices in place of a table."""

    @staticmethod
    def one(s: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], names: Sequence[str]) -> Matrices: ...

    @staticmethod
    def pair(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], names: Sequence[str]) -> Matrices: ...

class Fitted:
    """A trained model and how it came about."""

    @staticmethod
    def from_json(text: str) -> Fitted: ...

    @staticmethod
    def from_file(path: str) -> Fitted: ...

    @property
    def file(self) -> str: ...

    @property
    def selection(self) -> str: ...

    @property
    def evaluation(self) -> str: ...

    @property
    def k(self) -> int: ...

    @property
    def status(self) -> str: ...

    @property
    def warnings(self) -> list[str]: ...

    @property
    def note(self) -> str: ...

    def predict_proba(self, rows: Table) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

def select(table: Table, method: str, call_options: CallOptions, contact: Contact) -> str: ...

def select_matrices(matrices: Matrices, method: str, call_options: CallOptions, contact: Contact) -> str: ...

def renormalize(table: Table, sets: Sequence[tuple[Sequence[str], Sequence[float]]], call_options: CallOptions) -> str: ...

def renormalize_matrices(matrices: Matrices, sets: Sequence[tuple[Sequence[str], Sequence[float]]], call_options: CallOptions) -> str: ...

def fit(table: Table, method: str, call_options: CallOptions, contact: Contact) -> Fitted: ...

def evaluate(table: Table, methods: Sequence[tuple[str, str]], call_options: CallOptions, contact: Contact) -> str: ...

def evaluate_part(table: Table, methods: Sequence[tuple[str, str]], call_options: CallOptions, part: str, contact: Contact) -> str: ...

def merge_evaluation(table: Table, methods: Sequence[tuple[str, str]], call_options: CallOptions, parts: Sequence[str], contact: Contact) -> str: ...

def report(sources: Sequence[tuple[str, str, str]], table: Table | None, data_path: str, shape: str) -> tuple[str, list[tuple[str, str]]]:
    """The page of results (name, text, path), and its figures as SVG."""

def cluster(table: Table, method: str, call_options: CallOptions, contact: Contact) -> str: ...

def verify(result: str, table: Table, call_options: CallOptions, contact: Contact) -> str: ...

def verify_matrices(result: str, matrices: Matrices, call_options: CallOptions, contact: Contact) -> str: ...

def synthesize(name: str, options: str) -> Table | dict: ...

def arrow_stream(capsule: object) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], list[str]]:
    """The numbers of an Arrow stream, and the names of its columns."""

def catalogue() -> str:
    """What there is, as JSON: methods, classifiers, problems, options."""

def build_lines() -> str: ...

def version() -> str: ...
