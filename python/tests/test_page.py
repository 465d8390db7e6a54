"""The page of results, from Python and from the command line: the same bytes for the same results."""

import json
import subprocess

import numpy as np
import pytest
import subspectra as sp


def page_of_program(program, tmp_path, *words):
    page = tmp_path / "program.html"
    command = [program, "report", *words, "-o", page, "--quiet"]
    subprocess.run([str(word) for word in command], check=True, capture_output=True, cwd=tmp_path)
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def selection():
    return sp.select("sonar", method="eslda", k=range(1, 4))


@pytest.fixture(scope="module")
def evaluation():
    return sp.evaluate("sonar", method=["fisher", "gslda"], k=range(1, 4))


@pytest.mark.parametrize("with_table", [False, True])
def test_objects_dictionaries_texts_and_files_make_the_page_of_the_program(program, tmp_path, selection, evaluation, with_table):
    files = [tmp_path / "selection.json", tmp_path / "evaluation.json"]
    for result, file in zip((selection, evaluation), files, strict=True):
        result.to_json(file)
    words, keywords = (["--data", "sonar", "--shape", "6x10"], {"data": "sonar", "shape": (6, 10)}) if with_table else ([], {})
    expected = page_of_program(program, tmp_path, *files, *words)
    forms = [
        (selection, evaluation),
        ([selection, evaluation],),
        (dict(selection), dict(evaluation)),
        (selection.to_json(), str(files[1])),
        tuple(files),
    ]
    for results in forms:
        assert sp.report(*results, **keywords) == expected
    written = sp.report(selection, evaluation, path=tmp_path / "ours.html", **keywords)
    assert (tmp_path / "ours.html").read_text(encoding="utf-8") == expected
    assert written == str(tmp_path / "ours.html")


def test_a_table_in_memory_says_what_its_file_does(sonar):
    X, y = sonar
    found = sp.select(X, y, k=3)
    page = sp.report(found, data=X, y=y, shape="6x10")
    assert page != sp.report(found, shape="6x10")
    assert any(name.startswith("path") for name in page.figures)
    with pytest.raises(sp.BadInput, match="207 rows"):
        sp.report(found, data=X[1:], y=y[1:])


def test_figures_are_those_of_the_program(program, tmp_path, evaluation):
    evaluation.to_json(tmp_path / "evaluation.json")
    command = [program, "report", tmp_path / "evaluation.json", "--figures", tmp_path / "theirs", "--quiet"]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    page = sp.report(evaluation, figures=tmp_path / "ours")
    theirs = {file.name: file.read_text() for file in (tmp_path / "theirs").iterdir()}
    assert theirs and theirs == page.figures
    assert theirs == {file.name: file.read_text() for file in (tmp_path / "ours").iterdir()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [sp.SparseLDA(k=range(1, 4)), sp.SparsePCA(k=3), sp.QAlpha(k=3), sp.SpectralFeatureClustering(2), sp.FilterSelector(k=3)],
    ids=repr,
)
def test_fitted_estimators_have_a_page(estimator, sonar):
    X, y = sonar
    fitted = estimator.fit(X, y)
    page = sp.report(fitted)
    assert page.startswith("<!DOCTYPE html>")
    if hasattr(fitted, "predict_proba"):
        again = type(fitted).from_json(fitted.to_json())
        assert sp.report(again) == sp.report(fitted.to_json())
        assert len(page) > len(sp.report(again))  # what is known of a fit is more than its model


def test_a_notebook_shows_the_page_in_a_frame(selection):
    shown = sp.report(selection)._repr_html_()
    assert shown.startswith("<iframe ") and "<script" not in shown


def test_the_log_of_a_search_stands_behind_its_result(program, tmp_path):
    found, log = tmp_path / "s.json", tmp_path / "log.jsonl"
    command = [program, "select", "sonar", "--method", "eslda", "-k", "3", "--events", log, "-o", found, "--quiet"]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    assert sp.report(found, log) == page_of_program(program, tmp_path, found, log)
    with pytest.raises(sp.BadInput, match="no selection stands before it"):
        sp.report(log, found)


def test_what_is_no_result_is_refused_with_words():
    with pytest.raises(TypeError, match="needs a result"):
        sp.report()
    with pytest.raises(TypeError, match="not int"):
        sp.report(3)
    with pytest.raises(ValueError, match="not fitted"):
        sp.report(sp.SparseLDA())
    with pytest.raises(sp.BadInput, match="no result that a page can show"):
        sp.report({"schema": "somebody.else/1"})
    with pytest.raises(sp.BadInput, match="no such file"):
        sp.report("nowhere.json")
    with pytest.raises(sp.InvalidArgument, match="shape"):
        sp.report(sp.select("sonar", k=2), shape="6 by 10")


def test_a_page_holds_names_as_text(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=["</script><script>alert(1)</script>", "b", "c"])
    page = sp.report(sp.select(frame, np.arange(30) % 2, k=3), data=frame, y=np.arange(30) % 2)
    assert "alert(1)" not in page and not any("<script" in svg for svg in page.figures.values())
    assert json.loads(sp.select(frame, np.arange(30) % 2, k=3).to_json())["data"]["names"][0] == frame.columns[0]
