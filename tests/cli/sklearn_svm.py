"""Compares `fit --classifier svm` with scikit-learn's LinearSVC, which minimizes the same function by LIBLINEAR.

usage: sklearn_svm.py PROGRAM SONAR.csv WORK_DIRECTORY; exit code 77 when scikit-learn is not there.
"""
import csv
import json
import os
import sys

sys.dont_write_bytecode = True  # leaves the source tree as it is
try:
    import numpy as np
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    from sklearn_tables import read_table, run, write_wide, write_wine
except ImportError as problem:
    print("skipped:", problem)
    sys.exit(77)

program, sonar, work = sys.argv[1:4]
TOLERANCE = 1e-5  # on decisions, which are of the order of 1; both stop when the objective no longer falls


def compare(path, k, cost):
    x, y = read_table(path)
    model = os.path.join(work, "model.json")
    run(program, "fit", path, "--method", "fisher", "-k", str(k), "--classifier", "svm", "--C", str(cost), "-o", model)
    with open(model) as file:
        fitted = json.load(file)
    assert fitted["C"] == cost and fitted["classifier"] == "svm"
    part = x[:, fitted["features"]]
    ours = (part - fitted["centre"]) @ np.array(fitted["weights"]) + np.array(fitted["offsets"])
    z = StandardScaler().fit_transform(part)
    reference = LinearSVC(C=cost, dual=False, tol=1e-12, max_iter=100000).fit(z, y)
    assert list(reference.classes_) == fitted["classes"], (reference.classes_, fitted["classes"])
    theirs = reference.decision_function(z)
    if theirs.ndim == 1:  # two classes: one function, positive for the second
        theirs = np.column_stack([-theirs, theirs])
    worst = np.abs(ours - theirs).max()
    label = f"{os.path.basename(path)} k={k} C={cost}"
    assert worst < TOLERANCE, f"{label}: decisions differ by {worst}"
    rows = list(csv.reader(run(program, "predict", model, path, "--quiet").splitlines()))[1:]
    clear = np.sort(theirs, axis=1)[:, -1] - np.sort(theirs, axis=1)[:, -2] > 2 * TOLERANCE
    predicted = np.array([r[1] for r in rows])
    assert (predicted == reference.predict(z))[clear].all(), f"{label}: predictions differ"
    probabilities = np.array([[float(v) for v in r[2:]] for r in rows])
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    print(f"{label}: largest difference {worst:.2e}")


wine_path = os.path.join(work, "wine.csv")
write_wine(wine_path)
wide_path = os.path.join(work, "wide.csv")
write_wide(wide_path, 40, 300)
for table, k in ((sonar, 60), (sonar, 5), (wine_path, 13), (wine_path, 4), (wide_path, 300)):
    for cost in (0.01, 1.0):
        compare(table, k, cost)
