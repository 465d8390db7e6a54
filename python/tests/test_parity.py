"""The command line and the package are two borders of one library: the same table and options give the same bits."""

import json
import subprocess

import numpy as np
import pytest
import subspectra as sp

# Twenty cases: method, command-line flags, keywords.
FITS = [
    ("gslda", ["-k", "4"], {"k": 4}),
    ("gslda", ["-k", "3", "--swaps", "2"], {"k": 3, "swaps": 2}),
    ("gslda", ["-k", "1:6"], {"k": range(1, 7)}),
    ("forward-lda", ["-k", "5", "--ridge", "rel:0.1"], {"k": 5, "ridge": "rel:0.1"}),
    ("backward-lda", ["-k", "3", "--standardize"], {"k": 3, "standardize": True}),
    ("eslda", ["-k", "2"], {"k": 2}),
    ("st", ["-k", "4", "--threshold", "y"], {"k": 4, "threshold": "y"}),
    ("gslda", ["-k", "3", "--prior", "uniform", "--shrinkage", "0.2"], {"k": 3, "prior": "uniform", "shrinkage": 0.2}),
    (
        "gslda",
        ["-k", "3", "--classifier", "knn", "--neighbors", "3"],
        {"k": 3, "classifier": "knn", "classifier_options": {"neighbors": 3}},
    ),
    ("gslda", ["-k", "3", "--classifier", "svm", "--C", "1"], {"k": 3, "classifier": "svm", "classifier_options": {"C": 1}}),
    ("gslda", ["-k", "3", "--include", "V11,V20"], {"k": 3, "include": ["V11", "V20"]}),
    ("gslda", ["-k", "3", "--exclude", "V11"], {"k": 3, "exclude": ["V11"]}),
    ("gslda", ["-k", "3", "--criterion", "wilks"], {"k": 3, "criterion": "wilks"}),
    ("gslda", ["-k", "3", "--transform", "asinh"], {"k": 3, "column_transform": "asinh"}),
]
SELECTIONS = [
    ("gspca", ["-k", "1:4"], {"k": range(1, 5)}),
    ("eslda", ["-k", "3", "--pool", "2", "--bounds"], {"k": 3, "pool": 2, "bounds": True}),
    ("gloss", ["-k", "1,3,5"], {"k": [1, 3, 5]}),
    ("fisher", ["-k", "6"], {"k": 6}),
    ("qalpha", ["-k", "4", "--clusters", "3"], {"k": 4, "clusters": 3}),
]


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def sonar_names():
    return [f"V{j}" for j in range(1, 61)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("method", "flags", "keywords"), FITS, ids=lambda value: "-".join(map(str, value)) if isinstance(value, list) else None
)
def test_models_of_both_predict_the_same_bits(program, sonar, tmp_path, method, flags, keywords):
    pd = pytest.importorskip("pandas")
    X, y = sonar
    frame = pd.DataFrame(X, columns=sonar_names())
    of_program = tmp_path / "program.json"
    run(program, "fit", "sonar", "--method", method, *flags, "-o", of_program, "--quiet")
    ours = sp.SparseLDA(method, **keywords).fit(frame, y)
    theirs = sp.SparseLDA.from_json(of_program)
    assert np.array_equal(ours.predict_proba(frame), theirs.predict_proba(frame))
    assert np.array_equal(ours.predict(frame), theirs.predict(frame))
    # The other way round: the program reads our model, and says the same of every row.
    ours.to_json(tmp_path / "ours.json")
    written = run(program, "predict", tmp_path / "ours.json", "sonar", "--quiet").splitlines()
    assert written == run(program, "predict", of_program, "sonar", "--quiet").splitlines()
    texts = [line.split(",") for line in written[1:]]
    assert [fields[-3] for fields in texts] == ours.predict(frame).tolist()
    assert np.array_equal(np.asarray([[float(p) for p in fields[-2:]] for fields in texts]), ours.predict_proba(frame))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "flags", "keywords"), SELECTIONS, ids=[one[0] for one in SELECTIONS])
def test_results_of_both_are_the_same_file(program, method, flags, keywords):
    theirs = json.loads(run(program, "select", "sonar", "--method", method, *flags, "--json", "--quiet"))
    ours = sp.select("sonar", method=method, **keywords)
    same = ["schema", "method", "status", "data", "path", "ranking", "weights", "discriminants", "lambda_path", "relevance"]
    assert {key: theirs.get(key) for key in same} == {key: ours.get(key) for key in same}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "method", "flags"),
    [
        (sp.SparseLDA("exact", k=3, pool=2), "eslda", ["-k", "3", "--pool", "2"]),
        (sp.SparseLDA(k=5, swaps=1), "gslda", ["-k", "5", "--swaps", "1"]),
        (sp.SparsePCA(k=[2, 4], n_components=2), "gspca", ["-k", "2,4", "--components", "2"]),
        (sp.QAlpha(k=range(1, 6)), "qalpha", ["-k", "1:5"]),
        (sp.FilterSelector(k=4), None, ["-k", "4"]),
    ],
    ids=repr,
)
def test_the_path_of_an_estimator_is_the_path_of_the_program(program, sonar, estimator, method, flags):
    pd = pytest.importorskip("pandas")
    X, y = sonar
    method = method or estimator.get_params()["method"]
    theirs = json.loads(run(program, "select", "sonar", "--method", method, *flags, "--json", "--quiet"))
    ours = estimator.fit(pd.DataFrame(X, columns=sonar_names()), y)
    assert list(ours.path_) == theirs["path"]
    assert ours.result_.get("components") == theirs.get("components")


@pytest.mark.filterwarnings("ignore")
def test_errors_of_both_are_the_same_numbers(program):
    flags = ["--method", "fisher,forward-lda", "-k", "1:3", "--repeats", "2", "--seed", "5"]
    theirs = json.loads(run(program, "evaluate", "sonar", *flags, "--json", "--quiet"))
    ours = sp.evaluate("sonar", method=["fisher", "forward-lda"], k=range(1, 4), repeats=2, random_state=5)
    for key in ("results", "chosen", "folds", "ranking", "comparison"):
        assert theirs[key] == ours[key], key
    assert ours.confusion().sum() == pytest.approx(208)


@pytest.mark.filterwarnings("ignore")
def test_a_synthetic_problem_is_the_same_table(program, tmp_path):
    run(program, "synth", "brownian", "--rows", 30, "--features", 7, "--seed", 3, "-o", tmp_path / "t.npz")
    X, y = sp.synth("brownian", rows=30, features=7, random_state=3)
    table = sp.datasets.load(tmp_path / "t.npz")
    assert np.array_equal(table.data, X)
    assert np.array_equal(table.target, y)


def test_the_program_verifies_what_the_package_found(program, tmp_path):
    sp.select("sonar", method="eslda", k=2).to_json(tmp_path / "found.json")
    assert json.loads(run(program, "verify", tmp_path / "found.json", "sonar", "--json", "--quiet"))["verdict"] == "holds"
    assert sp.verify(tmp_path / "found.json", "sonar")["verdict"] == "holds"


def test_every_option_of_the_registry_has_a_keyword():
    """The lists of names agree: no option of a method is out of reach, no keyword is unknown to the core."""
    catalogue = json.loads(sp._core.catalogue())
    known = {option["name"] for method in catalogue["methods"] for option in method["options"]}
    known |= {option["name"] for part in ("select", "prepare", "cluster") for option in catalogue[part]} | {"time_limit", "classifier"}
    known |= {option["name"] for kind in catalogue["classifiers"] for option in kind["options"]}
    from subspectra._calls import RENAMED

    ours = {"method", "variant", "progress", "classifier_options", "certify"}
    for name in sp.__all__:
        estimator = getattr(sp, name)
        if not hasattr(estimator, "get_params"):
            continue
        for parameter in set(estimator().get_params()) - ours:
            assert RENAMED.get(parameter, parameter.rstrip("_")) in known, f"{name}: {parameter}"


OF_ESTIMATORS = {
    "SparseLDA": ["gslda", "forward-lda", "backward-lda", "st", "eslda"],
    "SparsePCA": ["gspca", "forward-pca", "backward-pca", "espca", "spca", "dspca"],
    "SparseDiscriminant": ["rvm-row", "rvm-entry", "gloss", "sda", "plda", "sulda", "sfd", "jeffreys-row", "jeffreys-entry"],
    "QAlpha": [
        "qalpha",
        "qalpha-basic",
        "qalpha-ritz",
        "qalpha-laplacian",
        "qalpha-gap",
        "qalpha-supervised",
        "qalpha-semi",
        "qalpha-kernel",
    ],
    "FilterSelector": ["pearson", "fisher", "ks", "snr", "max-surprise"],
    "SVMRFE": ["svm-rfe", "svm-rmb"],
    "GPClassifier": ["gp-ard"],
}
FILES_OF_ONE_SEARCH = {"checkpoint", "checkpoint_every", "resume"}  # of the command line and sp.select


def test_every_option_of_an_estimators_methods_is_a_parameter():
    from subspectra._calls import RENAMED

    methods = {method["name"]: method["options"] for method in json.loads(sp._core.catalogue())["methods"]}
    for name, own in OF_ESTIMATORS.items():
        parameters = {RENAMED.get(p, p.rstrip("_")) for p in getattr(sp, name)().get_params()}
        for method in own:
            missing = {option["name"] for option in methods[method]} - parameters - FILES_OF_ONE_SEARCH
            assert not missing, f"{name}, {method}: {missing}"
