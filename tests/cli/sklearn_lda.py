"""Compares `fit` and `predict` with scikit-learn's LinearDiscriminantAnalysis(solver="lsqr").

usage: sklearn_lda.py PROGRAM SONAR.csv WORK_DIRECTORY; exit code 77 when scikit-learn is not there.
"""
import csv
import json
import os
import subprocess
import sys

try:
    import numpy as np
    from sklearn.datasets import load_wine
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
except ImportError as problem:
    print("skipped:", problem)
    sys.exit(77)

program, sonar, work = sys.argv[1:4]
TOLERANCE = 1e-6  # on probabilities; both sides solve systems with the same covariance over N


def read_table(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    names = rows[0][:-1]
    return names, np.array([[float(v) for v in r[:-1]] for r in rows[1:]]), np.array([r[-1] for r in rows[1:]])


def write_wine(path):
    wine = load_wine()
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([n.replace("/", "_") for n in wine.feature_names] + ["class"])
        for x, y in zip(wine.data, wine.target):
            out.writerow([repr(float(v)) for v in x] + [wine.target_names[y]])


def compare(path, k, prior):
    names, x, y = read_table(path)
    model = os.path.join(work, "model.json")
    subprocess.run([program, "fit", path, "--method", "fisher", "-k", str(k), "--prior", prior, "-o", model],
                   check=True, stdout=subprocess.DEVNULL)
    with open(model) as file:
        features = json.load(file)["features"]
    assert len(features) == k
    out = subprocess.run([program, "predict", model, path, "--quiet"], check=True, capture_output=True, text=True)
    rows = list(csv.reader(out.stdout.splitlines()))
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
