"""scikit-learn's own checks: those that it generates, and by hand those that no generator yields."""

import inspect
import re

import pytest
import subspectra as sp
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from subspectra._compat import HAS_TAG_OBJECTS

CLASSIFIERS = [
    sp.SparseLDA(),
    sp.SparseLDA(shrinkage=0.0),
    sp.SparseLDA("exact", k=2),
    sp.SparseLDA("st", k=3),
    sp.SparseLDA(k="cv"),
    sp.SparseClassifier(),
    sp.SparseDiscriminant(),
    sp.RVMDiscriminant(),
    sp.GroupLassoDiscriminant(),
    sp.GPClassifier(hyperparameters="fixed", lengthscale=1.0),
    sp.SVMRFE(C=1.0),
]
SELECTORS = [sp.SparsePCA(), sp.FilterSelector(), sp.QAlpha(k=2)]
CLUSTERERS = [sp.SpectralFeatureClustering()]
ALL = CLASSIFIERS + SELECTORS + CLUSTERERS

# Expected failures, each with the reason that stands in docs/python.md.
FOLDS = "sizes are chosen by cross-validation: a row of weight 2 is in one fold, two equal rows may be in two"
EVIDENCE = "shrinkage='auto' judges the evidence by the effective number of rows, of which a weight of 2 has fewer than two rows"
EQUIVALENCE = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_failures(estimator):
    if isinstance(estimator, sp.SparseClassifier) or getattr(estimator, "k", None) == "cv":
        return dict.fromkeys((*EQUIVALENCE, "check_sample_weights_invariance"), FOLDS)
    if isinstance(estimator, sp.SparseLDA) and estimator.shrinkage is None:
        return dict.fromkeys(EQUIVALENCE, EVIDENCE)
    return {}


marked = {"expected_failed_checks": expected_failures} if HAS_TAG_OBJECTS else {}


@parametrize_with_checks(ALL, **marked)
@pytest.mark.filterwarnings("ignore")
def test_generated_check(estimator, check):
    name = getattr(check, "func", check).__name__
    if not HAS_TAG_OBJECTS and name in expected_failures(estimator):
        pytest.xfail(expected_failures(estimator)[name])
    check(estimator)


BY_HAND = [
    "check_dataframe_column_names_consistency",
    "check_n_features_in_after_fitting",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_get_feature_names_out_error",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_param_validation",
    "check_inplace_ensure_writeable",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("check", BY_HAND)
@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_check_by_hand(estimator, check):
    found = getattr(estimator_checks, check, None)
    if found is None:
        pytest.skip(f"this scikit-learn has no {check}")
    if "polars" in check:
        pytest.importorskip("polars")
    if "pandas" in check:
        pytest.importorskip("pandas")
    found(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_every_parameter_is_documented_and_constrained(estimator):
    parameters = list(inspect.signature(type(estimator).__init__).parameters)[1:]
    assert set(parameters) == set(estimator._parameter_constraints)
    text = type(estimator).__doc__
    for name in parameters:
        assert re.search(rf"^    (\w+, )*{name}(, \w+)* : ", text, re.MULTILINE), name
