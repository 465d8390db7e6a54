"""Compares `fit` and `predict` with scikit-learn's LinearDiscriminantAnalysis(solver="lsqr").

usage: sklearn_lda.py PROGRAM SONAR.csv WORK_DIRECTORY; exit code 77 when scikit-learn is not there.
"""
import csv
import json
import os
import sys

sys.dont_write_bytecode = True  # leaves the source tree as it is
try:
    import numpy as np
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    from sklearn_tables import read_table, run, write_wine
except ImportError as problem:
    print("skipped:", problem)
    sys.exit(77)

program, sonar, work = sys.argv[1:4]
TOLERANCE = 1e-6  # on probabilities; both sides solve systems with the same covariance over N


def compare(path, k, prior):
    x, y = read_table(path)
    model = os.path.join(work, "model.json")
    run(program, "fit", path, "--method", "fisher", "--shrinkage", "0", "-k", str(k), "--prior", prior, "-o", model)
    with open(model) as file:
        features = json.load(file)["features"]
    assert len(features) == k
    rows = list(csv.reader(run(program, "predict", model, path, "--quiet").splitlines()))
    classes = [name[len("p_"):] for name in rows[0][2:]]
    ours = np.array([[float(v) for v in r[2:]] for r in rows[1:]])
    predicted = np.array([r[1] for r in rows[1:]])
    reference = LinearDiscriminantAnalysis(solver="lsqr").fit(x[:, features], y)
    assert list(reference.classes_) == classes, (reference.classes_, classes)
    theirs = reference.predict_proba(x[:, features])
    if prior == "uniform":
        # Given priors, scikit-learn also averages the class covariances with them. Our rule keeps the covariance over
        # N and changes the priors alone, which by Bayes divides each probability by its class frequency.
        theirs /= reference.priors_
        theirs /= theirs.sum(axis=1, keepdims=True)
    expected = reference.classes_[theirs.argmax(axis=1)]
    worst = np.abs(ours - theirs).max()
    label = f"{os.path.basename(path)} k={k} prior={prior}"
    assert worst < TOLERANCE, f"{label}: probabilities differ by {worst}"
    assert (predicted == expected).all(), f"{label}: predictions differ"
    print(f"{label}: largest difference {worst:.2e}")


wine = os.path.join(work, "wine.csv")
write_wine(wine)
for table, p in ((sonar, 60), (wine, 13)):
    for k in (p, 5):
        for prior in ("empirical", "uniform"):
            compare(table, k, prior)
