#!/usr/bin/python3
"""Our CSV reader beside pandas' C engine on one wide file, on one core, in one run.

    /usr/bin/python3 bench/io/csv_bench.py [--rows 200] [--features 20000] [--driver build/bench/bench_io_csv]

Makes the file, takes the best of several readings of each program in turn, checks that the values agree, prints
the ratio and the peak memory beside the size of the matrix. Exit code 1 if we are less than 3 times as fast or
need more than 2.5 times the matrix."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--features", type=int, default=20000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--driver", default=str(ROOT / "build/bench/bench_io_csv"))
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # one core for both, so that neither gains by threads
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})

    values = np.random.default_rng(0).standard_normal((arguments.rows, arguments.features))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "wide.csv")
        with open(path, "w", encoding="ascii") as out:
            out.write(",".join(f"V{j}" for j in range(arguments.features)) + "\n")
            for row in values:
                out.write(",".join("%.17g" % v for v in row) + "\n")
        size = os.path.getsize(path)
        pandas_seconds, ours = [], []
        for _ in range(arguments.repeats):
            start = time.perf_counter()
            frame = pd.read_csv(path)
            pandas_seconds.append(time.perf_counter() - start)
            done = subprocess.run([arguments.driver, path], check=True, capture_output=True, text=True)
            ours.append(json.loads(done.stdout))
        read = ours[0]
        assert frame.shape == values.shape == (read["rows"], read["features"])
        assert read["first"] == values[0, 0] and read["last"] == values[-1, -1], "a value was not read back exactly"
        assert abs(read["sum"] - values.sum()) <= 1e-12 * np.abs(values).sum()
        assert np.allclose(frame.to_numpy(), values, rtol=1e-14)

    matrix = 8 * values.size
    ratio = min(pandas_seconds) / min(o["seconds"] for o in ours)
    peak = max(o["peak_bytes"] for o in ours)
    start = max(o["start_bytes"] for o in ours)
    print(f"{arguments.rows} x {arguments.features}, {size / 1e6:.1f} MB of text, one core")
    print(f"pandas {pd.__version__} C engine: {min(pandas_seconds):.3f} s")
    print(f"subspectra: {min(o['seconds'] for o in ours):.3f} s, {ratio:.1f} times as fast (3 are asked for)")
    print(f"peak memory {peak / 1e6:.1f} MB = {peak / matrix:.2f} matrices of {matrix / 1e6:.1f} MB "
          f"(2.5 are allowed; the program alone takes {start / 1e6:.1f} MB)")
    return 0 if ratio >= 3 and peak <= 2.5 * matrix else 1


if __name__ == "__main__":
    sys.exit(main())
