#!/usr/bin/env python3
"""What a fixed fraction of the largest lambda costs and brings, on several tables: the experiment behind --lambda auto.

    bench/scoring/default_lambda.py build/release/subspectra FOLDER [METHOD...]

FOLDER holds tables of the user (colon.csv, golub.npz, wine.csv, ramaswamy_filtered1363.csv.gz; those that
are not there are left out); Sonar, Ionosphere and synthetic classes are the program's own. Every number is a
cross-validated error in percent with the mean number of features behind it.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

FRACTIONS = {
    "rvm-row": [0.3, 0.1, 0.05, 0.03, 0.01, 0.003],
    "rvm-entry": [0.05, 0.02, 0.01, 0.005, 0.002, 0.001],
    "jeffreys-row": [0.1, 0.05, 0.03, 0.02, 0.01, 0.002],
    "gloss": [0.5, 0.3, 0.2, 0.1, 0.05],
    "sda": [0.5, 0.3, 0.2, 0.1, 0.05],
}
TABLES = ["colon.csv", "golub.npz", "wine.csv", "ramaswamy_filtered1363.csv.gz"]


def evaluate(program, table, method, choice, result):
    command = [program, "evaluate", table, "--method", method, "--lambda", choice, "--cv", "5", "-o", result]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    row = json.loads(pathlib.Path(result).read_text())["results"][0]
    return 100 * row["error"], row.get("features", row.get("k"))


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    methods = sys.argv[3:] or list(FRACTIONS)
    with tempfile.TemporaryDirectory() as scratch:
        tables = {"sonar": "sonar", "ionosphere": "ionosphere"}
        tables |= {name.split(".")[0]: str(folder / name) for name in TABLES if (folder / name).exists()}
        for rows, features in [(100, 500), (200, 2000)]:
            path = f"{scratch}/classes-{rows}-{features}.csv"
            subprocess.run([program, "synth", "gaussian-classes", "--rows", str(rows), "--features", str(features),
                            "--classes", "4", "--seed", "1", "-o", path], check=True, capture_output=True)
            tables[f"classes {rows} x {features}"] = path
        for method in methods:
            fractions = FRACTIONS[method]
            print(f"| {method} | " + " | ".join(f"{f:g}" for f in fractions) + " |", flush=True)
            print("|---" * (len(fractions) + 1) + "|")
            excess = [0.0] * len(fractions)
            for name, table in tables.items():
                found = [evaluate(program, table, method, f"auto:{f:g}", f"{scratch}/r.json") for f in fractions]
                best = min(error for error, _ in found)
                excess = [e + error - best for e, (error, _) in zip(excess, found)]
                print(f"| {name} | " + " | ".join(f"{e:.1f} % / {k:.0f}" for e, k in found) + " |", flush=True)
            print("| mean above the best of the row | " + " | ".join(f"{e / len(tables):.1f}" for e in excess) + " |\n",
                  flush=True)


if __name__ == "__main__":
    main()
