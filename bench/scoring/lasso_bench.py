#!/usr/bin/env python3
"""Paths over 150 x 16,000 beside other programs, on the same table and the same lambdas, in processor time of one thread:

- the lasso, 50 lambdas, beside scikit-learn's lasso_path (same tolerance on the duality gap) and R's glmnet (its own threshold, 1e-7);
- the group lasso of GLOSS, four classes (L = 3), 100 lambdas, beside adelie's multigaussian path and glmnet's two grouped families:
  mgaussian, the same problem, and multinomial, the usual one for classes (its own 100 lambdas down to the same ratio).

What cannot be imported is left out with a word. Objectives are recomputed here by numpy, so that nobody is fast by stopping early.

    python3 -m venv ENV && ENV/bin/pip install adelie scikit-learn
    Rscript -e 'install.packages("glmnet")'           # or R_LIBS=... where it is
    ENV/bin/python bench/scoring/lasso_bench.py build/bench/bench_scoring_group_lasso [RATIO]
"""
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import json
import subprocess
import sys
import tempfile
import time

import numpy as np

TOLERANCE = 1e-7  # of |T|^2/2, as in GroupLassoOptions


def spent(work, runs=3):
    best, answer = np.inf, None
    for _ in range(runs):
        start = time.process_time()
        answer = work()
        best = min(best, time.process_time() - start)
    return best, answer


def line(name, seconds, ours, excess):
    words = "" if np.isnan(excess) else f"   largest excess of its objective {excess:.1e} |T|^2/2"
    print(f"  {name:<28} {seconds:8.3f} s   {seconds / ours:7.2f} x ours{words}")


def excess_of(x, t, path, lambdas, objectives):
    """How far above ours an objective is at most, in |T|^2/2. `path`: p x L for each lambda."""
    unit = 0.5 * np.sum(t * t)
    worst = -np.inf
    for b, value, ours in zip(path, lambdas, objectives):
        rows = np.flatnonzero(np.abs(b).sum(axis=1))
        residual = t - x[:, rows] @ b[rows]
        other = 0.5 * np.sum(residual**2) + value * np.sqrt((b[rows] ** 2).sum(axis=1)).sum()
        worst = max(worst, (other - ours) / unit)
    return worst


def beside_sklearn(x, y, lambdas, objectives, ours):
    try:
        import sklearn
        from sklearn.linear_model import lasso_path
    except ImportError as missing:
        print(f"  scikit-learn is not there: {missing}")
        return
    # Its gap is compared with tol |y|^2.
    seconds, answer = spent(lambda: lasso_path(x, y, alphas=lambdas / len(y), tol=0.5 * TOLERANCE, max_iter=100000), runs=1)
    b = answer[1]
    line(f"scikit-learn {sklearn.__version__}", seconds, ours,
         excess_of(x, y[:, None], [b[:, [i]] for i in range(b.shape[1])], lambdas, objectives))


def beside_glmnet(folder, x, y, lambdas, objectives, ours):
    script = r"""
    suppressMessages(library(glmnet))
    folder <- commandArgs(TRUE)[1]; n <- as.integer(commandArgs(TRUE)[2]); p <- as.integer(commandArgs(TRUE)[3])
    x <- matrix(readBin(file.path(folder, "x.bin"), "double", n * p), n, p)
    y <- readBin(file.path(folder, "y.bin"), "double", n)
    lambdas <- readBin(file.path(folder, "lambdas.bin"), "double", 1000)
    best <- Inf
    for (run in 1:3) {
      used <- system.time(fit <- glmnet(x, y, lambda = lambdas, standardize = FALSE, intercept = FALSE))
      best <- min(best, used[["user.self"]] + used[["sys.self"]])
    }
    writeBin(as.vector(as.matrix(fit$beta)), file.path(folder, "beta.bin"))
    cat(best, as.character(packageVersion("glmnet")))
    """
    x.ravel(order="F").tofile(folder + "/x.bin")
    y.tofile(folder + "/y.bin")
    (lambdas / len(y)).tofile(folder + "/lambdas.bin")
    try:
        run = subprocess.run(["Rscript", "-e", script, folder, str(x.shape[0]), str(x.shape[1])], capture_output=True, text=True)
    except FileNotFoundError:
        print("  R is not there")
        return
    if run.returncode != 0:
        print("  glmnet is not there:", run.stderr.strip().splitlines()[-1:])
        return
    seconds, version = run.stdout.split()
    b = np.fromfile(folder + "/beta.bin").reshape(-1, x.shape[1]).T
    line(f"glmnet {version}", float(seconds), ours,
         excess_of(x, y[:, None], [b[:, [i]] for i in range(b.shape[1])], lambdas, objectives))


def beside_grouped_glmnet(folder, t, lambdas, ratio, ours):
    script = r"""
    suppressMessages(library(glmnet))
    folder <- commandArgs(TRUE)[1]; n <- as.integer(commandArgs(TRUE)[2]); p <- as.integer(commandArgs(TRUE)[3])
    depth <- as.integer(commandArgs(TRUE)[4]); ratio <- as.numeric(commandArgs(TRUE)[5])
    x <- matrix(readBin(file.path(folder, "x.bin"), "double", n * p), n, p)
    t <- matrix(readBin(file.path(folder, "t.bin"), "double", n * depth), n, depth)
    classes <- factor(apply(round(t, 9), 1, paste, collapse = " "))
    lambdas <- readBin(file.path(folder, "lambdas.bin"), "double", 1000)
    spent <- function(work) { used <- system.time(work()); used[["user.self"]] + used[["sys.self"]] }
    same <- spent(function() glmnet(x, t, family = "mgaussian", lambda = lambdas, standardize = FALSE, intercept = FALSE))
    usual <- spent(function() glmnet(x, classes, family = "multinomial", type.multinomial = "grouped", nlambda = 100,
                                     lambda.min.ratio = ratio, standardize = FALSE))
    cat(same, usual, as.character(packageVersion("glmnet")))
    """
    t.ravel(order="F").tofile(folder + "/t.bin")
    (lambdas / len(t)).tofile(folder + "/lambdas.bin")
    size = os.path.getsize(folder + "/x.bin") // 8 // len(t)
    run = subprocess.run(["Rscript", "-e", script, folder, str(len(t)), str(size), str(t.shape[1]), ratio],
                         capture_output=True, text=True)
    if run.returncode != 0:
        print("  glmnet is not there:", run.stderr.strip().splitlines()[-1:])
        return
    same, usual, version = run.stdout.split()
    line(f"glmnet {version} mgaussian", float(same), ours, np.nan)
    line(f"glmnet {version} multinomial", float(usual), ours, np.nan)


def beside_adelie(x, t, lambdas, objectives, ours):
    try:
        import adelie as ad
    except ImportError as missing:
        print(f"  adelie is not there: {missing}")
        return
    n, depth = t.shape
    # Its objective is 1/(2 n L)|T - XB|^2 + lambda sum_i penalty_i |b_i|.
    path = np.ascontiguousarray(lambdas / (n * depth))
    response = ad.glm.multigaussian(np.ascontiguousarray(t))

    def work():
        return ad.grpnet(x, response, lmda_path=path, penalty=np.ones(x.shape[1]), intercept=False,
                         early_exit=False, progress_bar=False, n_threads=1)

    seconds, state = spent(work)
    b = state.betas.toarray()
    line(f"adelie {ad.__version__}", seconds, ours,
         excess_of(x, t, [row.reshape(x.shape[1], depth) for row in b], lambdas, objectives) if len(b) == len(lambdas) else np.nan)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bench/bench_scoring_group_lasso"
    ratio = sys.argv[2] if len(sys.argv) > 2 else "0.1"
    with tempfile.TemporaryDirectory() as folder:
        ours = json.loads(subprocess.run([program, folder, ratio], check=True, capture_output=True, text=True).stdout)
        print(ours)
        read = {name: np.load(f"{folder}/{name}.npy") for name in
                ("x", "y", "targets", "lasso_lambdas", "lasso_objectives", "gloss_lambdas", "gloss_objectives")}
        x, y, t = np.asfortranarray(read["x"]), read["y"].ravel(), read["targets"]
        print(f"lasso, {len(y)} x {x.shape[1]}, 50 lambdas down to {ratio} of the largest: {ours['lasso_s']:.3f} s")
        lambdas, objectives = read["lasso_lambdas"].ravel(), read["lasso_objectives"].ravel()
        beside_glmnet(folder, x, y, lambdas, objectives, ours["lasso_s"])
        beside_sklearn(x, y, lambdas, objectives, ours["lasso_s"])
        print(f"gloss, L = {t.shape[1]}, 100 lambdas: {ours['gloss_s']:.3f} s;  sda, 100 lambdas: {ours['sda_s']:.3f} s")
        half = 0.5 * len(y)  # from the scale of (1/N)|.|^2 to that of 1/2 |.|^2
        beside_adelie(x, t, half * read["gloss_lambdas"].ravel(), half * read["gloss_objectives"].ravel(), ours["gloss_s"])
        beside_grouped_glmnet(folder, t, half * read["gloss_lambdas"].ravel(), ratio, ours["gloss_s"])


if __name__ == "__main__":
    main()
