"""Tables and calls that the comparisons with scikit-learn share."""
import csv
import subprocess

import numpy as np


def write_table(path, x, y, names=None):
    """A CSV file with the label in the last column, `class`; every double to its last digit."""
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(list(names or (f"x{j}" for j in range(x.shape[1]))) + ["class"])
        for row, label in zip(x, y):
            out.writerow([repr(float(v)) for v in row] + [label])


def read_table(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return np.array([[float(v) for v in r[:-1]] for r in rows[1:]]), np.array([r[-1] for r in rows[1:]])


def write_wine(path):
    from sklearn.datasets import load_wine

    wine = load_wine()
    write_table(path, wine.data, wine.target_names[wine.target], [n.replace("/", "_") for n in wine.feature_names])


def write_wide(path, rows, columns):
    """More columns than rows; the first five tell the classes apart."""
    x = np.random.default_rng(0).normal(size=(rows, columns))
    x[: rows // 2, :5] += 1.0
    write_table(path, x, ["a"] * (rows // 2) + ["b"] * (rows // 2))


def run(program, *words):
    """What the program prints."""
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout
