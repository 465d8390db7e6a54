#!/usr/bin/env python3
"""The package beside what people use now: whole call against whole call, as ratios of processor time.

usage: compare.py [--quick]     fastcan and abess are compared where they are installed

Every comparison is on the same table in the same process, on one thread; a ratio above one says how many times longer the other one
takes. The quality of both answers is printed beside it.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402

import numpy as np  # noqa: E402
import subspectra as sp  # noqa: E402


def seconds(call, at_least=0.3):
    """Processor seconds of one call: the mean of as many as take `at_least`, after one that warms up, and the last answer."""
    answer = call()
    calls, start = 0, time.process_time()
    while calls == 0 or time.process_time() - start < at_least:
        answer = call()
        calls += 1
    return (time.process_time() - start) / calls, answer


def once(call):
    start = time.process_time()
    answer = call()
    return time.process_time() - start, answer


def report(name, theirs, ours, note):
    print(f"{name:58} {theirs:10.4g} s {ours:10.4g} s   ratio {theirs / ours:9.1f}   {note}", flush=True)


def criterion(X, y, features):
    """The largest eigenvalue that the set reaches, recomputed by the library."""
    names = [f"x{j}" for j in features]
    return sp.select(X, y, method="forward-lda", k=len(names), include=names, ridge=0.0)["path"][-1]["objective"]


def sequential(quick):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.feature_selection import RFE, SequentialFeatureSelector
    from sklearn.svm import SVC

    X, y = sp.datasets.load("sonar", return_X_y=True)
    k = 3 if quick else 10
    ours, mine = seconds(lambda: sp.SparseLDA(k=k, n_jobs=1).fit(X, y))
    theirs, other = once(lambda: SequentialFeatureSelector(LinearDiscriminantAnalysis(), n_features_to_select=k).fit(X, y))
    a, b = criterion(X, y, mine.features_), criterion(X, y, np.flatnonzero(other.get_support()))
    report(f"SequentialFeatureSelector(LDA), Sonar, k = {k}", theirs, ours, f"criterion {b:.4f} and {a:.4f}")
    ours, mine = seconds(lambda: sp.SVMRFE(k=k, C=1.0, n_jobs=1).fit(X, y))
    theirs, other = once(lambda: RFE(SVC(kernel="linear"), n_features_to_select=k, step=0.1).fit(X, y))
    report(f"RFE(SVC(linear)), Sonar, k = {k}", theirs, ours, f"accuracy on the rows {other.score(X, y):.3f} and {mine.score(X, y):.3f}")


def wide(quick):
    rng = np.random.default_rng(0)
    rows, columns, k = (100, 2_000, 10) if quick else (200, 20_000, 30)
    X = np.asfortranarray(rng.normal(size=(rows, columns)))
    y = (X[:, :10].sum(axis=1) + rng.normal(size=rows) > 0).astype(int)
    ours, mine = seconds(lambda: sp.SparseLDA("forward", k=k, certify=False, n_jobs=1).fit(X, y))
    title = f"{rows} x {columns:,}, k = {k}"
    try:
        from fastcan import FastCan

        theirs, other = seconds(lambda: FastCan(n_features_to_select=k, verbose=0).fit(X, y))
        report(f"fastcan, {title}", theirs, ours, f"real features {sum(other.indices_ < 10)} and {sum(mine.features_ < 10)} of 10")
    except ImportError:
        print(f"fastcan is not installed: left out (ours, {title}: {ours:.4g} s)")
    try:
        from abess import LogisticRegression

        theirs, other = once(lambda: LogisticRegression(support_size=k).fit(X, y))
        report(f"abess, {title}", theirs, ours, f"real features {np.count_nonzero(other.coef_[:10])} and {sum(mine.features_ < 10)} of 10")
    except ImportError:
        print("abess is not installed: left out")


def components(quick):
    from sklearn.decomposition import SparsePCA

    X, _ = sp.datasets.load("sonar", return_X_y=True)
    X = X - X.mean(axis=0)
    for alpha in (1.0, 2.0) if quick else (0.5, 1.0, 2.0, 3.0):
        theirs, other = once(lambda alpha=alpha: SparsePCA(1, alpha=alpha, random_state=0).fit(X))
        direction = other.components_[0]
        k = int(np.count_nonzero(direction))
        if k == 0:
            continue
        ours, mine = seconds(lambda k=k: sp.SparsePCA(k=k, n_jobs=1).fit(X))
        direction = direction / np.linalg.norm(direction)
        report(
            f"SparsePCA, Sonar, alpha {alpha}, {k} loadings",
            theirs,
            ours,
            f"variance {(X @ direction).var():.5f} and {mine.explained_variance_[0]:.5f}",
        )


def overhead(quick):
    """What a call costs beside the core, on a table that is next to nothing: 20 x 3."""
    from sklearn.utils.multiclass import check_classification_targets
    from subspectra import _core
    from subspectra._calls import contact
    from subspectra._tables import table_of

    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.arange(20) % 2
    estimator = sp.SparseLDA("forward", k=1, n_jobs=1).fit(X, y)
    table, what = table_of(X, codes=y, classes=[0, 1]), estimator._call_options(None, 3)
    fitted = _core.fit(table, "forward-lda", what, contact())

    def after():
        estimator._keep_selection(fitted.selection)
        estimator._keep_model(fitted)
        estimator._keep_loadings()

    def checks():
        estimator._validate_params()
        estimator._check(X, y, reset=True)
        check_classification_targets(y)

    parts = {
        "the core itself": lambda: _core.fit(table, "forward-lda", what, _core.Contact(None, False, False)),
        "the same, listening for Ctrl-C": lambda: _core.fit(table, "forward-lda", what, contact()),
        "a table of arrays": lambda: table_of(X, codes=y, classes=[0, 1]),
        "options": lambda: estimator._call_options(None, 3),
        "attributes": after,
        "scikit-learn's checks of X, y and parameters": checks,
        "fit, all of it": lambda: estimator.fit(X, y),
        "predict, all of it": lambda: estimator.predict(X),
    }
    print("\nOverhead of a call (20 x 3):")
    took = {name: 1e3 * seconds(call)[0] for name, call in parts.items()}
    for name, milliseconds in took.items():
        print(f"  {name:46} {milliseconds:.3f} ms")
    rest = took["fit, all of it"] - took["the core itself"] - took["scikit-learn's checks of X, y and parameters"]
    print(f"  {'fit beside the core and these checks':46} {rest:.3f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    print(f"{'':58} {'theirs':>12} {'ours':>12}")
    for part in (sequential, wide, components, overhead):
        part(quick)


if __name__ == "__main__":
    main()
