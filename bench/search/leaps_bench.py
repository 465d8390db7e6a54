#!/usr/bin/env python3
"""eslda against leaps (R, Debian's r-cran-leaps), CPU seconds of the search alone, in one run.

    bench/search/leaps_bench.py build/release/subspectra [--long]

leaps: exhaustive regsubsets on a +/-1 label; ours: search_s of the result file, on one thread (the process's CPU
time is printed beside it). --long adds Sonar at every k.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

program = os.path.abspath(sys.argv[1])
R = r'''
suppressMessages(library(leaps))
a <- commandArgs(trailingOnly = TRUE)
d <- read.csv(a[1], check.names = FALSE); lo <- as.integer(a[2]); hi <- as.integer(a[3])
y <- ifelse(d[[ncol(d)]] == d[[ncol(d)]][1], 1, -1)
x <- as.matrix(d[, -ncol(d)]); x <- x[, apply(x, 2, sd) > 0]
time <- system.time(f <- summary(regsubsets(x, y, nvmax = hi, really.big = TRUE, method = "exhaustive")))
total <- sum((y - mean(y))^2)
cat(time[["user.self"]] + time[["sys.self"]], 1 / (f$rss[hi] / total) - 1, "\n")
'''


def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(data, k):
    out, total = cpu([program, "select", data, "--method", "eslda", "-k", k, "--json", "--threads", "1", "--ridge", "0"])
    result = json.loads(out)
    return result["timing"]["search_s"], total, result


def row(name, data, k, leaps=True):
    lo, hi = (k.split(":") + [k])[:2]
    search, total, result = ours(data, k)
    text = f"{name:34s} k {k:5s} ours {search:9.4f} s (process {total:7.3f} s CPU), {result['search']['nodes']:9d} nodes, {result['status']}"
    if leaps:
        with tempfile.NamedTemporaryFile("w", suffix=".R") as script:
            script.write(R)
            script.flush()
            csv = data if data.endswith(".csv") else os.path.join(root, "data", data + ".csv")
            seconds, value = map(float, subprocess.run(["Rscript", script.name, csv, lo, hi], capture_output=True,
                                                       text=True, check=True).stdout.split())
        best = result["path"][-1]["objective"]
        text += f"; leaps {seconds:8.3f} s: ratio {seconds / search:7.1f}; values {best:.6f} {value:.6f}"
    print(text, flush=True)


root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
with tempfile.TemporaryDirectory() as folder:
    row("Ionosphere", "ionosphere", "1:33")
    row("Sonar", "sonar", "5")
    row("Sonar", "sonar", "10", leaps=False)
    for seed in range(1, 6):
        path = os.path.join(folder, f"brownian{seed}.csv")
        subprocess.run([program, "synth", "brownian", "--features", "40", "--seed", str(seed), "-o", path], check=True,
                       capture_output=True)
        row(f"Brownian n = 40, seed {seed}", path, "1:40", leaps=seed == 1 or "--long" in sys.argv)
    path = os.path.join(folder, "brownian100.csv")
    subprocess.run([program, "synth", "brownian", "--features", "100", "--seed", "1", "-o", path], check=True,
                   capture_output=True)
    row("Brownian n = 100", path, "5")
    if "--long" in sys.argv:
        row("Sonar, every k", "sonar", "1:60", leaps=False)
