#!/usr/bin/python3
"""The sets of every method under every kernel set of OpenBLAS that this CPU can execute.

    kernel_sets.py PROGRAM [--tables A,B] [--methods A,B] [--kernels A,B] [--most N] [-k LO:HI] [--time-limit S] [--seconds S]

Kernels differ in the last digits of a product. What a method answers must not: the ranking up to the largest k, and the
set of every k, are compared with those of the first kernel set. Every difference is printed and the exit code is 1.
A method that ends by its time limit or that refuses a table is named and not compared.
"""
import argparse
import json
import os
import subprocess
import sys

# OpenBLAS's names, and what /proc/cpuinfo must list for their kernels.
KERNELS = {
    "Haswell": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"},
    "Prescott": set(),
    "Sandybridge": {"avx"},
    "Zen": {"avx2", "fma"},
}
CUT_SHORT = {"time_limit", "interrupted", "memory_limit"}
# What these take to have an answer on a table of two classes and a moment.
OPTIONS = {"dspca": ["--max-iterations", "100"], "svm-rmb": ["--max-iterations", "20"]}


def here():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        flags = next((set(line.split(":")[1].split()) for line in file if line.startswith("flags")), set())
    return [name for name, needed in KERNELS.items() if needed <= flags]


def answer(program, kernel, table, method, arguments):
    """The ranking and the sets, or why there are none."""
    command = [program, "select", table, "--method", method, "-k", arguments.k, "--json", "--quiet", "--threads", "1",
               "--time-limit", str(arguments.time_limit), *OPTIONS.get(method, [])]
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "OPENBLAS_CORETYPE": kernel}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=arguments.seconds)
    except subprocess.TimeoutExpired:
        return f"needs more than {arguments.seconds:g} s"
    if done.returncode != 0:
        return "exit code %d: %s" % (done.returncode, (done.stderr.strip().splitlines() or [""])[-1])
    result = json.loads(done.stdout)
    if result["status"] in CUT_SHORT:
        return "status " + result["status"]
    most = max((one["k"] for one in result["path"]), default=0)
    return {"status": result["status"], "sets": {one["k"]: one["features"] for one in result["path"]},
            "ranking": result.get("ranking", [])[:most]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--tables", default="sonar")
    parser.add_argument("--methods", default="")
    parser.add_argument("--kernels", default="", help="default: all that this CPU has")
    parser.add_argument("--most", type=int, default=len(KERNELS), help="of these, so many that the CPU has")
    parser.add_argument("-k", default="1:5")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=120.0, help="limit of one run, whatever the method does")
    arguments = parser.parse_args()
    kernels = [name for name in here() if not arguments.kernels or name in arguments.kernels.split(",")]
    kernels = kernels[:arguments.most]
    if len(kernels) < 2:
        print("this CPU has fewer than two of the kernel sets: nothing to compare")
        return 77
    methods = arguments.methods.split(",") if arguments.methods else [
        one["name"] for one in json.loads(subprocess.run([arguments.program, "methods", "--json"], check=True,
                                                         capture_output=True, text=True).stdout)]
    different = compared = 0
    for table in arguments.tables.split(","):
        for method in methods:
            first = answer(arguments.program, kernels[0], table, method, arguments)
            if isinstance(first, str):
                print(f"{os.path.basename(table)} {method}: not compared, {first}")
                continue
            compared += 1
            for kernel in kernels[1:]:
                other = answer(arguments.program, kernel, table, method, arguments)
                if other == first:
                    continue
                different += 1
                print(f"{os.path.basename(table)} {method}: {kernels[0]} {first}\n  {kernel} {other}")
            sys.stdout.flush()
    print(f"{compared} answers compared under {', '.join(kernels)}: {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
