"""Reads the symbol table of the shared library: few names leave it, all of them ours, none with Eigen in it; or that of the archive.

An Eigen type in a name ties the library to the alignment that the caller's compiler flags give that type, and a weak symbol of
Eigen or of the standard library would be shared with the caller's own copy of it, compiled with other flags. What OpenBLAS asks as it starts must be seen in the archive: else it starts
threads of its own.
"""

import argparse
import subprocess
import sys

OURS = ("_ZN10subspectra", "_ZNK10subspectra", "_ZNR10subspectra", "_ZNKR10subspectra", "_ZNO10subspectra",
        "_ZTIN10subspectra", "_ZTSN10subspectra", "_ZTVN10subspectra")


def check_archive(nm: str, archive: str) -> int:
    command = [nm, "--defined-only", "--extern-only", "--format=posix", archive]
    names = [line.split()[0] for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines() if line]
    with_eigen = [name for name in names if "5Eigen" in name]
    if with_eigen:
        print(f"{len(with_eigen)} symbols of the archive have Eigen in the name:", *with_eigen[:40], sep="\n  ")
    seen = "openblas_num_threads_env" in names
    if not seen:
        print("openblas_num_threads_env is not seen: OpenBLAS would take its own, and start threads")
    return 1 if with_eigen or not seen else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--library")
    which.add_argument("--archive")
    parser.add_argument("--at-most", type=int, default=200)
    arguments = parser.parse_args()
    if arguments.archive:
        return check_archive(arguments.nm, arguments.archive)
    command = [arguments.nm, "-D", "--defined-only", "--format=posix", arguments.library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = [line.split()[0].split("@")[0] for line in lines if line.strip()]
    foreign = [name for name in names if not name.startswith(OURS)]
    with_eigen = [name for name in names if "5Eigen" in name]
    for title, wrong in (("not of namespace subspectra", foreign), ("with Eigen in the name", with_eigen)):
        if wrong:
            print(f"{len(wrong)} exported symbols are {title}:", *wrong[:40], sep="\n  ")
    if len(names) > arguments.at_most:
        print(f"{len(names)} symbols are exported, at most {arguments.at_most} may be:", *names, sep="\n  ")
    print(f"{len(names)} exported symbols")
    return 1 if foreign or with_eigen or len(names) > arguments.at_most else 0


if __name__ == "__main__":
    sys.exit(main())
