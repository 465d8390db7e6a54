"""A good citizen: no copies, no leaks, no lock held, interrupts and forks."""

import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import subspectra as sp
from subspectra._tables import table_of


def address(array):
    return array.__array_interface__["data"][0]


def test_float64_arrays_of_any_layout_are_viewed(rng):
    X = rng.normal(size=(40, 10))
    whole = np.asfortranarray(X)
    read_only = X.copy()
    read_only.setflags(write=False)
    layouts = [X, whole, X[::2], X[:, ::3], whole[5:, 2:], X.T, X[::-1], read_only]
    for view in layouts:
        table = table_of(view)
        assert table.address == address(view)
        assert np.array_equal(table.matrix(), view)


def test_a_table_keeps_its_array_alive(rng):
    X = rng.normal(size=(50, 5))
    copy = X.copy()
    references = sys.getrefcount(X)
    table = table_of(X)
    assert sys.getrefcount(X) > references
    del table
    gc.collect()
    assert sys.getrefcount(X) == references
    table = table_of(X)
    del X
    gc.collect()
    assert np.array_equal(table.matrix(), copy)


def test_memory_mapped_files_are_viewed(rng, tmp_path):
    np.save(tmp_path / "x.npy", rng.normal(size=(60, 8)))
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert table_of(X).address == address(X)
    assert sp.SparseLDA(k=2).fit(X, np.arange(60) % 2).get_support().sum() == 2


PEAK = """
import re, sys
import numpy as np
import subspectra as sp

def status(name):
    with open("/proc/self/status") as file:
        return int(re.search(name + r":\\s+(\\d+)", file.read()).group(1))

X = np.array(np.random.default_rng(0).normal(size=(400, 25_000)), order=sys.argv[1])
y = np.arange(400) % 2
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak is counted from here
before = status("VmRSS")
sp.SparseLDA("forward", k=2, n_jobs=1, certify=sys.argv[2] == "bounds").fit(X, y).predict(X)
print((status("VmHWM") - before) / (X.nbytes / 1024))
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak cannot be reset here")
@pytest.mark.parametrize(("order", "bounds", "most"), [("F", "none", 0.5), ("C", "none", 1.5), ("F", "bounds", 1.5), ("C", "bounds", 2.5)])
def test_what_a_fit_takes_beside_its_table(order, bounds, most):
    """Peak memory of a fit on 80 MB in units of the table: one packed copy where it does not stand column after column, and one for the
    bounds of a search, which work on centred rows."""
    command = [sys.executable, "-W", "ignore", "-c", PEAK, order, bounds]
    assert float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) < most


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_a_thousand_fits_leak_nothing(rng):
    X, y = rng.normal(size=(30, 6)), np.arange(30) % 2
    estimator = sp.SparseLDA(k=2, n_jobs=1)

    def fits(count):
        for _ in range(count):
            estimator.fit(X, y).predict_proba(X)
        gc.collect()
        return resident()

    warm = fits(200)
    assert fits(1000) - warm < 4 << 20
    references = sys.getrefcount(X)
    fits(3)
    assert sys.getrefcount(X) == references


HARD = {"method": "exact", "k": 25}


@pytest.fixture(scope="module")
def noise():
    """Nothing but noise: no search proves a set of 25 of 90 in the time a test has."""
    return np.random.default_rng(1).normal(size=(200, 90)), np.arange(200) % 2


@pytest.mark.filterwarnings("ignore")
def test_other_threads_run_while_the_core_works(noise):
    X, y = noise
    turns = 0
    done = threading.Event()

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    sp.SparseLDA(**HARD, time_limit=0.5, n_jobs=1).fit(X, y)
    done.set()
    thread.join()
    assert turns > 20


@pytest.mark.filterwarnings("ignore")
def test_fits_in_threads_agree(sonar):
    X, y = sonar
    expected = sp.SparseLDA(k=5).fit(X, y).predict_proba(X)
    answers = [None] * 6

    def work(i):
        answers[i] = sp.SparseLDA(k=5).fit(X, y).predict_proba(X)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(answers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(answer, expected) for answer in answers)


def test_fit_fork_fit(sonar):
    X, y = sonar
    expected = sp.SparseLDA(k=4, n_jobs=2).fit(X, y).features_.tolist()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if sp.SparseLDA(k=4, n_jobs=2).fit(X, y).features_.tolist() == expected else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sp.SparseLDA(k=4, n_jobs=2).fit(X, y).features_.tolist() == expected


def interrupted_after(seconds, call):
    """Runs `call` while SIGINT comes; what it raised or gave, and how long it took to end after the signal."""
    sent = []
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a run in the background begins without

    def send():
        time.sleep(seconds)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        answer = call()
    except KeyboardInterrupt as error:
        answer = error
    ended = time.monotonic()
    thread.join()
    signal.signal(signal.SIGINT, handler)
    return answer, ended - sent[0]


@pytest.mark.filterwarnings("ignore")
def test_ctrl_c_raises(noise):
    answer, _ = interrupted_after(0.3, lambda: sp.SparseLDA(**HARD, time_limit=60).fit(*noise))
    assert isinstance(answer, KeyboardInterrupt)


def test_ctrl_c_keeps_the_best_so_far_where_that_is_asked_for(noise):
    from sklearn.exceptions import ConvergenceWarning

    with sp.best_so_far(), pytest.warns(ConvergenceWarning, match="interrupted"):
        fitted, _ = interrupted_after(0.3, lambda: sp.SparseLDA(**HARD, time_limit=60).fit(*noise))
    assert fitted.status_ == "interrupted"
    assert fitted.get_support().sum() == 25
    assert fitted.upper_bound_ >= fitted.objective_


@pytest.mark.filterwarnings("ignore")
def test_progress_is_told_and_may_raise(noise):
    heard = []
    sp.SparseLDA(**HARD, time_limit=0.5, progress=lambda *now: heard.append(now)).fit(*noise)
    assert heard and isinstance(heard[0][0], str) and heard[0][2] >= 0

    def refuse(*now):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        sp.SparseLDA(**HARD, time_limit=60, progress=refuse).fit(*noise)


def test_one_thread_inside_a_joblib_worker():
    import joblib
    from subspectra._calls import threads_of

    assert threads_of(None) == joblib.cpu_count()
    assert threads_of(3) == 3
    assert threads_of(-1) == joblib.cpu_count()
    for backend in ("threading", "loky"):
        assert joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(threads_of)(None) for _ in range(2)) == [1, 1]


def test_nothing_of_openmp_or_hdf5_comes_along():
    code = "import subspectra as sp; sp.select('sonar', k=2); print(open('/proc/self/maps').read())"
    alone = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    base = subprocess.run(
        [sys.executable, "-c", "import sklearn.feature_selection, joblib, scipy.sparse; print(open('/proc/self/maps').read())"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout

    def libraries(maps):
        return {os.path.basename(line.split()[-1]).split(".so")[0] for line in maps.splitlines() if ".so" in line}

    more = libraries(alone) - libraries(base)
    assert not [name for name in more if name.startswith(("libgomp", "libhdf5", "libcurl", "libmatio"))]
