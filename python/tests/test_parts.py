"""An evaluation that joblib runs: the answer of one run, whatever the backend and however many tasks there are."""

import joblib
import numpy as np
import pytest
import subspectra as sp
from subspectra import _parts

OPTIONS = {"method": {"fisher": {}, "gslda": {"swaps": 1}}, "k": range(1, 4), "repeats": 2, "random_state": 3}


def answer(result):
    """All of a result but its times and the number of threads."""
    kept = {key: value for key, value in result.items() if key != "timing"}
    kept["options"] = {key: value for key, value in result["options"].items() if key != "threads"}
    return kept


@pytest.fixture(scope="module")
def alone():
    return answer(sp.evaluate("sonar", **OPTIONS))


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("n_jobs", [2, 3, 20])
def test_parts_make_the_answer_of_one_run(backend, n_jobs, alone):
    with joblib.parallel_backend(backend):
        assert answer(sp.evaluate("sonar", n_jobs=n_jobs, **OPTIONS)) == alone


def test_arrays_weights_and_groups_travel(rng):
    X, y = rng.normal(size=(60, 5)), np.repeat(["a", "b", "c"], 20)
    X[:20, 0] += 2
    options = {"method": ["gslda"], "k": [1, 2], "sample_weight": rng.uniform(0.5, 2, size=60), "cv_groups": np.arange(60) // 2}
    expected = answer(sp.evaluate(X, y, **options))
    with joblib.parallel_backend("loky"):
        assert answer(sp.evaluate(X, y, n_jobs=2, **options)) == expected


def test_a_path_travels_in_place_of_its_table(monkeypatch, tmp_path):
    sent = []
    monkeypatch.setattr(_parts, "evaluate_in_parts", _parts.evaluate_in_parts)
    run = _parts._run_part

    def spy(recipe, *rest):
        sent.append(recipe)
        return run(recipe, *rest)

    monkeypatch.setattr(_parts, "_run_part", spy)
    with joblib.parallel_backend("threading"):
        sp.evaluate("sonar", method="fisher", k=2, n_jobs=2)
    assert sent == [{"path": "sonar", "read": {}}] * 2


def test_dask_runs_the_parts(alone):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster), joblib.parallel_backend("dask"):
        assert answer(sp.evaluate("sonar", n_jobs=-1, **OPTIONS)) == alone


def test_nothing_is_shared_out_unless_that_is_asked_for():
    assert _parts.workers_asked_for(4) == 1  # no backend was chosen: threads of this process
    with joblib.parallel_backend("loky"):
        assert _parts.workers_asked_for(None) == 1
        assert _parts.workers_asked_for(4) == 4
        inside = joblib.Parallel(n_jobs=2)(joblib.delayed(_parts.workers_asked_for)(4) for _ in range(2))
    assert inside == [1, 1]


def test_what_parts_cannot_have_is_refused():
    with joblib.parallel_backend("loky"), pytest.raises(sp.InvalidArgument, match="time_limit="):
        sp.evaluate("sonar", method="fisher", k=2, n_jobs=2, time_limit=5)


def test_another_table_under_the_same_name_is_refused(tmp_path, monkeypatch):
    """A worker on a machine where the name stands for something else."""
    sp.datasets.load("sonar")
    made = _parts.made
    other = made({"path": "ionosphere", "read": {}})
    with joblib.parallel_backend("threading"):
        monkeypatch.setattr(_parts, "made", lambda recipe: other)
        with pytest.raises(sp.BadInput, match="another table"):
            sp.evaluate("sonar", method="fisher", k=2, n_jobs=2)
