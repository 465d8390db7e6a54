"""Compares svm-rfe with a loop over scikit-learn's LinearSVC, and kernel machines with scikit-learn's SVC.

usage: sklearn_machines.py PROGRAM SONAR.csv WORK_DIRECTORY; exit code 77 when scikit-learn is not there.
"""
import json
import os
import sys

sys.dont_write_bytecode = True  # leaves the source tree as it is
try:
    import numpy as np
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, LinearSVC

    from sklearn_tables import read_table, run, write_wide, write_wine
except ImportError as problem:
    print("skipped:", problem)
    sys.exit(77)

program, sonar, work = sys.argv[1:4]
TIE = 1e-4  # relative: smaller differences of two w_j^2 are beyond what LinearSVC's stopping rule resolves
TOLERANCE = 2e-3  # on decisions of SVC, which are of the order of 1; ours stop at violations of 1e-4


def compare_rfe(path, cost):
    """One at a time; where the two smallest weights nearly agree, either may leave and ours is followed."""
    x, y = read_table(path)
    found = json.loads(run(program, "select", path, "--method", "svm-rfe", "--rfe-step", "1", "--C", str(cost), "-k", "1", "--json"))
    ours = found["ranking"]
    z = StandardScaler().fit_transform(x)
    left = list(range(x.shape[1]))
    followed = 0
    for place in range(len(left) - 1, 0, -1):
        w = LinearSVC(C=cost, dual=False, tol=1e-10, max_iter=100000).fit(z[:, left], y).coef_
        scores = (w ** 2).sum(axis=0)
        worst = left[int(np.argmin(scores))]
        leaves = ours[place]
        if leaves != worst:
            gap = (scores[left.index(leaves)] - scores.min()) / scores.min()
            assert gap < TIE, f"{path}: at {len(left)} features {leaves} left and not {worst} (gap {gap:.2e})"
            followed += 1
        left.remove(leaves)
    print(f"svm-rfe {os.path.basename(path)} C={cost}: same order, {followed} near ties")


def compare_kernel(path, options, machine):
    x, y = read_table(path)
    model = os.path.join(work, "model.json")
    run(program, "fit", path, "--method", "all", "--classifier", "svm", "--C", "2", "-o", model, *options)
    with open(model) as file:
        fitted = json.load(file)
    part = (x[:, fitted["features"]] - fitted["centre"]) * np.array(fitted["scale"])
    vectors, gamma = np.array(fitted["support_vectors"]), fitted["gamma"]
    if fitted["kernel"] == "rbf":
        k = np.exp(-gamma * ((part[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2))
    else:
        k = (gamma * part @ vectors.T + 1.0) ** fitted["degree"]
    ours = k @ np.array(fitted["coefficients"]) + np.array(fitted["offsets"])
    z = StandardScaler().fit_transform(x)
    for c, name in enumerate(fitted["classes"]):
        theirs = machine.fit(z, np.where(y == name, 1, -1)).decision_function(z)
        worst = np.abs(theirs - ours[:, c]).max()
        assert worst < TOLERANCE, f"{path} {options} {name}: decisions differ by {worst}"
    print(f"{os.path.basename(path)} {' '.join(options)}: agrees, {len(vectors)} support vectors")


wine_path = os.path.join(work, "wine.csv")
write_wine(wine_path)
wide_path = os.path.join(work, "wide.csv")
write_wide(wide_path, 30, 50)
for table in (sonar, wine_path, wide_path):
    compare_rfe(table, 0.1)
for table in (sonar, wine_path, wide_path):
    p = read_table(table)[0].shape[1]
    compare_kernel(table, ["--svm-kernel", "rbf"], SVC(C=2, kernel="rbf", gamma=1 / p, tol=1e-8))
    compare_kernel(table, ["--svm-kernel", "poly", "--svm-degree", "3", "--svm-gamma", "0.02"],
                   SVC(C=2, kernel="poly", degree=3, gamma=0.02, coef0=1.0, tol=1e-8))
