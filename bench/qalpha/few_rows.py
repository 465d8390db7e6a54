#!/usr/bin/env python3
"""How many of the first six features that Q-alpha names are relevant on few rows of Weston's linear problem, with labels and without: the figures
of docs/methods/qalpha.md, "Labels and few rows". Features 0 to 5 are the relevant ones; seeds 0 to 7.

    python3 bench/qalpha/few_rows.py build/release/subspectra
"""
import json
import pathlib
import subprocess
import sys
import tempfile

METHODS = {
    "qalpha": ["--method", "qalpha"],
    "qalpha-supervised": ["--method", "qalpha-supervised"],
    "  --gamma 0": ["--method", "qalpha-supervised", "--gamma", "0"],
    "  --within-vectors 1": ["--method", "qalpha-supervised", "--within-vectors", "1"],
    "  both": ["--method", "qalpha-supervised", "--gamma", "0", "--within-vectors", "1"],
}


def relevant(program, rows, options, folder):
    """Of 48: six features for each of eight tables."""
    count = 0
    for seed in range(8):
        table, answer = folder / "table.npz", folder / "answer.json"
        subprocess.run([program, "synth", "weston-linear", "--rows", str(rows), "--seed", str(seed), "-o", table], check=True, capture_output=True)
        subprocess.run([program, "select", table, *options, "-k", "6", "-o", answer], check=True, capture_output=True)
        entry = json.loads(answer.read_text())["path"][-1]
        count += sum(feature < 6 for feature in entry["features"])
    return count


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'relevant of 48':<24}{'30 rows':>8}{'100 rows':>10}")
        for name, options in METHODS.items():
            counts = [relevant(program, rows, options, pathlib.Path(folder)) for rows in (30, 100)]
            print(f"{name:<24}{counts[0]:>8}{counts[1]:>10}")


main()
