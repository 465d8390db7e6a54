"""What estimators know after a fit, and how they meet the rest of the Python world."""

import json
import pathlib
import pickle

import numpy as np
import pytest
import subspectra as sp
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.mark.parametrize(
    "estimator",
    [
        sp.SparseLDA(k=3),
        sp.SparseClassifier(k=[2, 4]),
        sp.SparseDiscriminant(k=3),
        sp.SVMRFE(k=3, C=1.0),
        sp.GPClassifier(hyperparameters="fixed", lengthscale=1.0, standardize=True),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_a_pickle_and_a_model_file_predict_the_same_bits(estimator, sonar):
    X, y = sonar
    fitted = clone(estimator).fit(X, y)
    expected = fitted.predict_proba(X)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), expected)
    again = type(fitted).from_json(fitted.to_json())
    assert np.array_equal(again.predict_proba(X), expected)
    assert np.array_equal(again.get_support(), fitted.get_support())
    assert again.to_json() == fitted.to_json()


def test_labels_come_back_as_they_were(sonar):
    X, y = sonar
    as_text = sp.SparseLDA(k=2).fit(X, y).predict(X)
    for labels in ((y == "R").astype(int), (y == "R"), np.where(y == "R", 10, 9), np.where(y == "R", 2.0, -1.0)):
        fitted = sp.SparseLDA(k=2).fit(X, labels)
        assert fitted.predict(X).dtype == np.asarray(labels).dtype
        assert np.array_equal(fitted.classes_, np.unique(labels))
        assert np.array_equal(fitted.predict(X) == labels, as_text == y)
        assert np.array_equal(fitted.classes_[fitted.predict_proba(X).argmax(axis=1)], fitted.predict(X))


def test_classes_that_texts_sort_otherwise_than_numbers_keep_their_columns(rng):
    X = rng.normal(size=(60, 4))
    y = np.repeat(["9", "10", "8"], 20)
    X[y == "10", 0] += 8
    X[y == "8", 1] += 8
    fitted = sp.SparseLDA(k=2).fit(X, y)
    assert fitted.classes_.tolist() == ["10", "8", "9"]
    assert fitted.score(X, y) > 0.95
    assert np.array_equal(fitted.classes_[fitted.predict_proba(X).argmax(axis=1)], fitted.predict(X))


def test_the_path_is_a_frame_and_a_certificate_is_proof(sonar):
    pd = pytest.importorskip("pandas")
    X, y = sonar
    fitted = sp.SparseLDA("exact", k=2).fit(X, y)
    assert fitted.status_ == "optimal"
    assert fitted.certificate_["certified"] and fitted.upper_bound_ == fitted.objective_
    frame = fitted.path_.to_frame()
    assert isinstance(frame, pd.DataFrame) and frame["k"].tolist() == [2]
    assert "proven" in fitted.explained_ and "proven" in fitted._repr_html_()
    from itertools import combinations

    def value(pair):  # Fisher's ratio of two classes, by the textbook
        a, b = X[y == "M"][:, pair], X[y == "R"][:, pair]
        within = sum((one - one.mean(axis=0)).T @ (one - one.mean(axis=0)) for one in (a, b)) / len(X)
        d = a.mean(axis=0) - b.mean(axis=0)
        return float(d @ np.linalg.solve(within, d)) * len(a) * len(b) / len(X) ** 2

    best = max(combinations(range(60), 2), key=lambda pair: value(list(pair)))
    assert tuple(fitted.features_) == best
    assert fitted.objective_ == pytest.approx(value(list(best)), rel=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_pipelines_grids_and_folds(sonar):
    X, y = sonar
    grid = GridSearchCV(make_pipeline(StandardScaler(), sp.SparseLDA()), {"sparselda__k": [1, 3]}, cv=3)
    assert grid.fit(X, y).best_params_["sparselda__k"] in (1, 3)
    pipeline = make_pipeline(sp.FilterSelector("ks", k=20), sp.SparseLDA(k=4))
    assert len(cross_validate(pipeline, X, y, cv=3)["test_score"]) == 3
    parallel = cross_validate(sp.SparseLDA(k=4), X, y, cv=3, n_jobs=2)["test_score"]
    assert np.array_equal(parallel, cross_validate(sp.SparseLDA(k=4), X, y, cv=3)["test_score"])


def test_metadata_routing_takes_weights(sonar):
    import sklearn
    from sklearn.utils.fixes import parse_version

    if parse_version(sklearn.__version__) < parse_version("1.6"):
        pytest.skip("this scikit-learn routes no metadata through cross_validate")
    X, y = sonar
    weights = np.where(y == "M", 1.0, 3.0)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = sp.SparseLDA(k=2).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        assert len(cross_validate(estimator, X, y, cv=3, params={"sample_weight": weights})["test_score"]) == 3


def test_sparse_tables_are_not_made_dense_and_agree(rng):
    X = rng.poisson(0.3, size=(80, 30)).astype(float)
    y = np.repeat([0, 1], 40)
    X[y == 1, 3] += rng.poisson(2.0, size=40)
    dense = sp.SparseLDA(k=3).fit(X, y)
    for kind in (sparse.csc_matrix, sparse.csr_matrix):
        fitted = sp.SparseLDA(k=3).fit(kind(X), y)
        assert np.array_equal(fitted.features_, dense.features_)
        assert np.allclose(fitted.predict_proba(kind(X)), dense.predict_proba(X), atol=1e-12)
    table = sp._tables.table_of(sparse.csr_matrix(X))
    assert table.is_sparse


def test_frames_of_three_kinds_give_names(sonar):
    X, y = sonar
    names = [f"V{j + 1}" for j in range(60)]
    expected = sp.SparseLDA(k=3).fit(X, y).predict_proba(X)
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame(X, columns=names)]
    try:
        import polars

        frames.append(polars.DataFrame({name: X[:, j] for j, name in enumerate(names)}))
    except ImportError:
        pass
    for frame in frames:
        fitted = sp.SparseLDA(k=3).fit(frame, y)
        assert np.array_equal(fitted.predict_proba(frame), expected)
        assert np.array_equal(fitted.predict(X[:3]), fitted.predict(frame[:3]))


def test_any_arrow_stream_will_do(sonar):
    pa = pytest.importorskip("pyarrow")

    class Stream:  # nothing but the interface
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    X, y = sonar
    names = [f"V{j + 1}" for j in range(60)]
    columns = [pa.chunked_array([X[:100, j], X[100:, j]]) for j in range(60)]
    stream = Stream(pa.table(columns, names=names).slice(0, 208))
    fitted = sp.SparseLDA(k=3).fit(stream, y)
    assert fitted.feature_names_in_.tolist() == names
    assert np.array_equal(fitted.predict_proba(stream), sp.SparseLDA(k=3).fit(X, y).predict_proba(X))
    small = Stream(
        pa.table({"a": pa.array([1, None, 3], pa.int8()), "b": [True, False, None], "c": pa.array([1.5, 2, 3], pa.float32())}).slice(1)
    )
    numbers, found = sp._tables.from_arrow(small)
    assert found == ["a", "b", "c"]
    assert np.array_equal(numbers, [[np.nan, 0.0, 2.0], [3.0, np.nan, 3.0]], equal_nan=True)
    with pytest.raises(ValueError, match="'t'"):
        sp.SparseLDA().fit(Stream(pa.table({"t": ["x", "y"]})), [0, 1])


def test_a_path_is_read_as_the_command_line_reads_it(sonar, tmp_path):
    X, y = sonar
    lines = [",".join([*(f"V{j + 1}" for j in range(60)), "class"])]
    lines += [",".join([*(repr(float(v)) for v in row), label]) for row, label in zip(X, y, strict=True)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    fitted = sp.SparseLDA(k=3).fit(path)
    assert np.array_equal(fitted.predict_proba(path), sp.SparseLDA(k=3).fit(X, y).predict_proba(X))
    assert fitted.transform(path).shape == (208, 3)
    assert fitted.get_feature_names_out().tolist() == ["V11", "V36", "V47"]
    assert np.array_equal(sp.SparsePCA(k=3).fit(tmp_path / "table.csv").features_, sp.SparsePCA(k=3).fit(X).features_)


def test_formats_that_python_packages_read(sonar, tmp_path):
    X, y = sonar
    expected = sp.SparseLDA(k=3).fit(X, y).predict_proba(X)
    from scipy.io import savemat

    savemat(tmp_path / "t.mat", {"X": X, "Y": (y == "R").astype(float)[:, None]})
    fitted = sp.SparseLDA(k=3).fit(tmp_path / "t.mat")
    assert np.array_equal(fitted.predict_proba(X), expected) and fitted.classes_.tolist() == ["0", "1"]
    with pytest.raises(FileNotFoundError):
        sp.datasets.load(tmp_path / "none.parquet")
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    columns = {f"V{j + 1}": X[:, j] for j in range(60)} | {"class": y}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert np.array_equal(sp.SparseLDA(k=3).fit(tmp_path / "t.parquet").predict_proba(tmp_path / "t.parquet"), expected)
    assert sp.datasets.load(tmp_path / "t.parquet").feature_names[:2] == ["V1", "V2"]


def test_missing_values_are_refused_or_filled_in(sonar):
    X, y = sonar
    X = X.copy()
    X[::7, 10] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        sp.SparseLDA(k=3).fit(X, y)
    for policy in ("mean", "median", "indicator"):
        fitted = sp.SparseLDA(k=3, missing=policy, include=[10]).fit(X, y)
        assert fitted.get_support()[10]
        assert np.isfinite(fitted.predict_proba(X)).all()
        assert fitted.transform(X).shape[1] == fitted.get_support().sum()


def test_groups_by_list_and_by_name(sonar):
    X, y = sonar
    groups = ["low"] * 20 + [""] * 40
    fitted = sp.SparseLDA(k=2, groups=groups, include=[0]).fit(X, y)
    assert fitted.get_support()[:20].all() and fitted.get_support().sum() == 21
    named = sp.SparseLDA(k=2, groups={j: "low" for j in range(20)}, include=["x0"]).fit(X, y)
    assert np.array_equal(named.features_, fitted.features_)


def test_errors_speak_python(sonar):
    X, y = sonar
    with pytest.raises(sp.InvalidArgument, match="swaps= must not be negative") as caught:
        sp.SparseLDA(k=2, swaps=-1).fit(X, y)
    assert caught.value.field == "swaps" and caught.value.value == "-1"
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match="pool= is an option of eslda, espca, but the method is gslda"):
        sp.SparseLDA(k=2, pool=3).fit(X, y)
    with pytest.raises(ValueError, match="'k' parameter"):
        sp.SparseLDA(k=2.5).fit(X, y)
    with pytest.raises(sp.Infeasible):
        sp.SparseLDA(k=1, include=[0, 1]).fit(X, y)
    with pytest.raises(ValueError, match="names 'nothing'"):
        sp.SparseLDA(k=1, include=["nothing"]).fit(X, y)
    with pytest.raises(sp.BadInput):
        sp.select("no-such-file.csv")
    with pytest.raises(ValueError, match="greater|there are 60"):
        sp.SparseLDA(k=1, include=[60]).fit(X, y)


def test_a_limit_gives_the_best_so_far_and_says_so(sonar):
    X, y = sonar
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        fitted = sp.SparseLDA("exact", k=20, time_limit=0.01).fit(X, y)
    assert fitted.status_ == "time_limit"
    assert fitted.upper_bound_ >= fitted.objective_ > 0
    assert fitted.get_support().sum() == 20


def test_the_size_is_chosen_by_honest_error(sonar):
    X, y = sonar
    fitted = sp.SparseLDA(k=range(1, 6)).fit(X, y)
    assert fitted.k_ in range(1, 6)
    assert fitted.evaluation_["chosen"][0]["k_one_standard_error"] == fitted.k_
    assert "error on new rows" in fitted.explained_
    assert [row["k"] for row in fitted.evaluation_["results"]] == [1, 2, 3, 4, 5]


def test_components_explain_what_they_say(sonar):
    X, _ = sonar
    pca = sp.SparsePCA(k=4, n_components=2).fit(X)
    assert pca.components_.shape == (2, 60)
    assert np.allclose(np.linalg.norm(pca.components_, axis=1), 1)
    assert np.count_nonzero(pca.components_, axis=1).tolist() == [4, 4]
    covariance = np.cov(X.T, bias=True)
    first = pca.components_[0]
    assert first @ covariance @ first == pytest.approx(pca.explained_variance_[0], rel=1e-9)
    assert pca.scores(X)[:, 0].var() == pytest.approx(pca.explained_variance_[0], rel=1e-9)
    exact = sp.SparsePCA("exact", k=3).fit(X)
    assert exact.certificate_["certified"]
    again = sp.SparsePCA.from_json(exact.to_json())
    assert np.array_equal(again.components_, exact.components_)


def test_q_alpha_and_its_variants(rng):
    X = rng.normal(size=(60, 12))
    X[:30, :3] += 6
    labels = np.repeat([0, 1], 30)
    for variant in ("unsupervised", "basic", "ritz", "laplacian", "gap", "kernel"):
        fitted = sp.QAlpha(variant, k=3).fit(X)
        assert fitted.get_support().sum() == 3, variant
    assert set(sp.QAlpha(k=3).fit(X).features_) == {0, 1, 2}
    assert set(sp.QAlpha("supervised", k=3).fit(X, labels).features_) == {0, 1, 2}
    some = np.where(rng.random(60) < 0.3, labels.astype(object), None)
    assert set(sp.QAlpha("semi", k=3).fit(X, some).features_) == {0, 1, 2}
    clusters = sp.SpectralFeatureClustering(2, k=3).fit(X)
    assert len(set(zip(clusters.labels_, labels, strict=True))) == 2


def test_matrices(rng):
    A = rng.normal(size=(8, 8))
    A = A @ A.T
    B = np.eye(8) + 0.1 * A
    found = sp.search(A, B, k=3)
    assert found.status == "optimal"
    from itertools import combinations

    from scipy.linalg import eigh

    best = max(eigh(A[np.ix_(s, s)], B[np.ix_(s, s)], eigvals_only=True)[-1] for s in combinations(range(8), 3))
    assert found.certificate["objective"] == pytest.approx(best, rel=1e-9)
    limits = sp.bounds(A, B, k=3)[3]
    assert min(limits["upper"].values()) >= best * (1 - 1e-12)
    chosen = found.path[0]["features"]
    again = sp.renormalize(A, B, support=chosen, loadings=np.ones(3))
    assert again["objective"] == pytest.approx(best, rel=1e-9) and again["given_objective"] <= best
    assert sp.verify(found, A=A, B=B)["verdict"] == "holds"
    with pytest.raises(ValueError, match="symmetric"):
        sp.search(A + np.triu(np.ones((8, 8)), 1), k=2)


def test_pictures(sonar):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = sonar
    fitted = sp.SparseLDA(k=range(1, 4)).fit(X, y)
    for picture in (fitted.plot_path(), fitted.plot_error(), fitted.plot_features(), fitted.plot_mask((6, 10))):
        picture.figure.canvas.draw()
    with pytest.raises(ValueError, match="60 features"):
        fitted.plot_mask((5, 5))
    sp.select("sonar", method="eslda", k=range(1, 4)).plot_path().figure.canvas.draw()
    matplotlib.pyplot.close("all")


def test_the_doctests():
    pytest.importorskip("pandas")  # to_frame() in one of them
    import doctest

    modules = ["lda", "classifier", "discriminant", "pca", "filters", "svm", "gp", "qalpha", "functions", "datasets", "_calls"]
    import importlib
    import warnings

    for name in [*modules, "synth"]:
        module = importlib.import_module(f"subspectra.{name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        assert result.failed == 0, name
        assert name == "_path" or result.attempted > 0, name


def test_a_fitted_estimator_is_verified_by_another_route(sonar):
    X, y = sonar
    assert sp.verify(sp.SparseLDA("exact", k=2).fit(X, y), X, y)["verdict"] == "holds"
    assert sp.verify(sp.SparsePCA(k=3).fit(X), X)["verdict"] == "holds"
    wrong = sp.select(X, y, method="gslda", k=2)
    wrong["path"][0]["objective"] *= 1.01
    assert sp.verify(json.dumps(wrong), X, y)["verdict"] == "fails"


def test_bounds_may_be_left_out(sonar):
    X, y = sonar
    for estimator in (sp.SparseLDA(k=3, certify=False), sp.SparsePCA(k=3, certify=False)):
        fitted = estimator.fit(X, y)
        assert fitted.upper_bound_ == np.inf and not fitted.certificate_["certified"]
        assert np.array_equal(fitted.features_, clone(estimator).set_params(certify=True).fit(X, y).features_)


def test_the_text_of_a_result_is_its_dictionary(tmp_path):
    found = sp.select("sonar", k=2)
    assert json.loads(found.to_json(tmp_path / "r.json")) == dict(found)
    assert pathlib.Path(tmp_path / "r.json").read_text() == found.to_json()
    assert pickle.loads(pickle.dumps(found)) == found


def test_an_iteration_starts_at_a_matrix(sonar, tmp_path, rng):
    X, y = sonar
    Q = np.linalg.qr(rng.normal(size=(len(X), 2)))[0]
    np.save(tmp_path / "q.npy", Q)
    for start in (Q, np.asfortranarray(Q), Q.tolist()):
        ours = sp.QAlpha(k=4, n_clusters=2, start=start).fit(X)
        theirs = sp.QAlpha(k=4, n_clusters=2, start=f"@{tmp_path / 'q.npy'}").fit(X)
        assert np.array_equal(ours.weights_, theirs.weights_)
    assert ours.result_["relevance"]["starts"] != sp.QAlpha(k=4, n_clusters=2, start="random").fit(X).result_["relevance"]["starts"]
    scores = np.array([[1.0], [-2.0]])
    np.save(tmp_path / "scores.npy", scores)
    ours = sp.RVMDiscriminant(k=4, start=scores).fit(X, y)
    theirs = sp.RVMDiscriminant(k=4, start=f"@{tmp_path / 'scores.npy'}").fit(X, y)
    assert np.array_equal(ours.coef_, theirs.coef_)
    assert np.array_equal(clone(ours).fit(X, y).coef_, ours.coef_)
    with pytest.raises(sp.InvalidArgument, match="start= is 3 x 1"):
        sp.RVMDiscriminant(k=4, start=np.ones((3, 1))).fit(X, y)
    with pytest.raises(sp.InvalidArgument, match="start= is no option of gslda"):
        sp.select(X, y, method="gslda", start=np.ones((3, 1)))


def test_where_a_search_works_can_be_said(sonar):
    X, y = sonar
    assert np.array_equal(sp.SparseLDA(k=3, device="cpu").fit(X, y).coef_, sp.SparseLDA(k=3).fit(X, y).coef_)
    with pytest.raises(sp.InvalidArgument, match="device="):
        sp.SparseLDA(k=3, device="abacus").fit(X, y)


@pytest.mark.filterwarnings("ignore")
def test_how_a_file_was_read_stands_in_its_result(tmp_path, rng):
    rows = "".join(f"{a:.3f},{b:.3f},{'ab'[i % 2]},{'uvw'[i // 2 % 3]},p{i // 4}\n" for i, (a, b) in enumerate(rng.normal(size=(60, 2))))
    file = tmp_path / "t.csv"
    file.write_text("x,z,first,second,patient\n" + rows)
    options = {"target": "first", "exclude": ["second", "patient"]}
    found = sp.select(file, method="gslda", k=1, **options)
    assert found["options"]["target"] == "first"
    assert sp.verify(found, file)["verdict"] == "holds"
    judged = sp.evaluate(file, method="fisher", k=1, cv=3, cv_groups="patient", **options)
    assert judged["options"]["cv_groups"] == "patient"
    groups = [f"p{i // 4}" for i in range(60)]
    table = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(0, 1))
    assert judged["results"] == sp.evaluate(table, [*"ab" * 30], method="fisher", k=1, cv=3, cv_groups=groups)["results"]
    with pytest.raises(TypeError, match="a file has its own"):
        sp.select(file, [*"ab" * 30], k=1)
