#!/usr/bin/env python3
"""Forward LDA search beside abess (PyPI) on the same two-class table, 200 x 50,000, sizes up to 30: processor time of both, and the
objective of both answers, a_S'B_S^{-1}a_S with the ridge that was used, computed here by numpy.

For two classes least squares on a coded label and Fisher's criterion order the sets alike (R^2 = J/(1 + J) without a ridge), so that abess's
linear model answers the same question.

    python3 -m venv --system-site-packages ENV && ENV/bin/pip install abess
    ENV/bin/python bench/search/abess_bench.py build/release/subspectra
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np


def objective(x, y, support, ridge):
    """Fisher's criterion of a set, from the definition."""
    support = np.asarray(sorted(support))
    part = x[:, support]
    a, b = part[y == 0], part[y == 1]
    n = len(y)
    within = ((a - a.mean(0)).T @ (a - a.mean(0)) + (b - b.mean(0)).T @ (b - b.mean(0))) / n
    within += ridge * np.eye(len(support))
    difference = np.sqrt(len(a) * len(b)) / n * (a.mean(0) - b.mean(0))
    return difference @ np.linalg.solve(within, difference)


def child_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/release/subspectra"
    rows, columns, k = 200, 50000, 30
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, columns))
    truth = rng.choice(columns, 20, replace=False)
    score = x[:, truth] @ rng.choice([-1.0, 1.0], 20) + rng.standard_normal(rows)
    y = (score > np.median(score)).astype(int)
    ridge = 0.01
    with tempfile.TemporaryDirectory() as folder:
        table, result = os.path.join(folder, "table.npz"), os.path.join(folder, "result.json")
        np.savez(table, X=x, y=np.array(["a", "b"])[y])
        answers = {}
        for name, extra in (("forward", []), ("forward + swaps", ["--swaps", "50"])):
            before = child_seconds()
            subprocess.run([program, "select", table, "--method", "forward-lda", "-k", f"1:{k}", "--ridge", str(ridge), "--threads", "1",
                            "-o", result, "--quiet", *extra], check=True, stdout=subprocess.DEVNULL)
            spent = child_seconds() - before
            with open(result) as file:
                answer = json.load(file)
            answers[name] = (spent, answer["timing"]["search_s"], {e["k"]: e["features"] for e in answer["path"]})
    from abess.linear import LinearRegression
    model = LinearRegression(path_type="seq", support_size=range(0, k + 1), ic_type="bic", thread=1)
    start = time.process_time()
    model.fit(x, y.astype(float))
    abess_s = time.process_time() - start
    print(f"{'':18}{'CPU s':>8}{'search s':>10}   objective at k = 5, 10, 20, 30")
    for name, (spent, search_s, sets) in answers.items():
        values = "  ".join(f"{objective(x, y, sets[i], ridge):8.4f}" for i in (5, 10, 20, 30))
        print(f"{name:18}{spent:8.2f}{search_s:10.2f}   {values}   (reading the file and writing JSON included in CPU s)")
    values = []
    for i in (5, 10, 20, 30):
        one = LinearRegression(support_size=i, thread=1)
        one.fit(x, y.astype(float))
        values.append(f"{objective(x, y, np.flatnonzero(one.coef_), ridge):8.4f}")
    print(f"{'abess 0..30':18}{abess_s:8.2f}{abess_s:10.2f}   {'  '.join(values)}")


if __name__ == "__main__":
    main()
