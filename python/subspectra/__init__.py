"""Feature selection with certificates: sparse discriminant analysis, sparse PCA, spectral weighting.

Estimators that feel like scikit-learn's own on the C++ core of Subspectra. Start with :class:`SparseClassifier` (chooses method and size
itself), :class:`SparseLDA` (a search, with bounds or a proof) or :func:`evaluate` (the honest error against the number of features).
"""

from . import datasets, plots
from ._calls import best_so_far
from ._core import version as _version
from ._errors import BadInput, Infeasible, InvalidArgument, SubspectraError
from ._path import Certificate, Path
from ._versions import show_versions
from .classifier import SparseClassifier
from .discriminant import GroupLassoDiscriminant, RVMDiscriminant, SparseDiscriminant
from .filters import FilterSelector
from .functions import EvaluationResult, Result, SelectionResult, bounds, evaluate, renormalize, search, select, verify
from .gp import GPClassifier
from .lda import SparseLDA
from .page import Page, report
from .pca import SparsePCA
from .qalpha import QAlpha, SpectralFeatureClustering
from .svm import SVMRFE
from .synth import synth

__version__ = _version()

__all__ = [
    "BadInput",
    "Certificate",
    "EvaluationResult",
    "FilterSelector",
    "GPClassifier",
    "GroupLassoDiscriminant",
    "Infeasible",
    "InvalidArgument",
    "Page",
    "Path",
    "QAlpha",
    "RVMDiscriminant",
    "Result",
    "SVMRFE",
    "SelectionResult",
    "SparseClassifier",
    "SparseDiscriminant",
    "SparseLDA",
    "SparsePCA",
    "SpectralFeatureClustering",
    "SubspectraError",
    "best_so_far",
    "bounds",
    "datasets",
    "evaluate",
    "plots",
    "renormalize",
    "report",
    "search",
    "select",
    "show_versions",
    "synth",
    "verify",
]
