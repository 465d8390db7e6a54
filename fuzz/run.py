"""Runs fuzz targets until they find nothing new; scripts/fuzz builds them and calls this.

usage: run.py [--record | --minimize] [--seconds S] [--jobs N] [TARGET...]

A target runs at least S seconds, and on until it has found no new edge for S/2 seconds, 3 S at most. Its executions, edges and time are
printed, and written to build/fuzz/summary.json; --record adds them to docs/fuzzing.json, from which scripts/update-safety-doc makes the
table of docs/safety.md.

libhdf5 and matio crash on some damaged files. They do so in a program of their own (docs/formats/isolation.md), but here in the fuzzer:
such an input is given to the program that users get, and is a finding only if that does not refuse it in words.
"""
import argparse
import bisect
import concurrent.futures
import datetime
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"
PROGRAM = ROOT / "build" / "release" / "subspectra"
RECORD = ROOT / "docs" / "fuzzing.json"
PROBLEMS = "certificate-problems"  # certificate_fuzzer, which needs no libFuzzer
PAGE = "page"  # report/test/fuzz.mjs, in node and Chromium
PLAIN = (PROBLEMS, PAGE)  # without edges to count, and without a corpus
ENDINGS = {"h5ad": ".h5ad", "tenx_h5": ".h5", "mat": ".mat", "mat73": ".mat"}  # decoded by libraries of others, in a process of their own
LIBRARIES = re.compile(r"/(libhdf5|libmatio|libsz|libaec|libz)[^/ ]*\.so")
OPTIONS = ["-rss_limit_mb=4096", "-malloc_limit_mb=100000", "-print_final_stats=1"]
OF_OURS = ["-timeout=120", "-max_len=65536"]
OF_LIBRARIES = ["-timeout=20", "-max_len=16384", "-detect_leaks=0"]  # they leak what a damaged file leaves half-read, and loop
# A file may ask for any amount of memory; it gets no more than a decoder would. Short stacks of allocations and a small quarantine make
# the targets that allocate much twice as fast; a finding is looked at with the defaults.
SANITIZERS = {"ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=1024:malloc_context_size=3:quarantine_size_mb=16",
              "UBSAN_OPTIONS": "print_stacktrace=1",
              "ASAN_SYMBOLIZER_PATH": shutil.which("llvm-symbolizer-14") or "/usr/lib/llvm-14/bin/llvm-symbolizer"}
stopping = threading.Event()


def targets():
    return sorted(path.name.removesuffix("_fuzzer.cpp") for path in (ROOT / "fuzz").glob("*_fuzzer.cpp")) + list(PLAIN)


class Run:
    """What one target did."""

    def __init__(self, target):
        self.target = target
        self.executions = self.edges = self.features = self.contained = 0
        self.findings = []
        self.start = self.last_edge = time.monotonic()
        self.seconds = self.quiet = 0.0
        self.decades = None

    def entry(self):
        entry = {"executions": self.executions, "edges": self.edges, "features": self.features, "seconds": round(self.seconds),
                 "quiet": round(self.quiet), "contained": self.contained, "findings": len(self.findings)}
        if self.decades is not None:
            entry["decades"] = self.decades
        return entry

    def line(self):
        rate = self.executions / self.seconds if self.seconds else 0.0
        contained = f", {self.contained} crashes of libraries, refused by the program" if self.contained else ""
        return (f"{self.target:<21} {self.executions:>11,} executions  {rate:>7,.0f}/s  {self.edges:>6} edges  {self.features:>6} features  "
                f"{self.seconds:>5.0f} s  {self.quiet:>4.0f} s without a new edge  {len(self.findings)} findings{contained}")


@functools.lru_cache(maxsize=None)
def symbols(program):
    """Addresses and names of a program's functions: its crashes are many, and a symbolizer takes a second for each."""
    lines = (line.split(" ", 2) for line in subprocess.run(["nm", "-n", "--defined-only", program], capture_output=True, text=True, check=True).stdout.splitlines())
    table = [(int(address, 16), name) for address, kind, name in lines if kind in "tTwW"]
    return [address for address, _ in table], [name for _, name in table]


def in_a_library(log):
    """Whether the innermost frame that is no sanitizer's and not of the C library is of a library that we do not own; or whether there is
    no such frame, because libFuzzer itself met memory that a library had written over (our own code is watched)."""
    if "libFuzzer: out-of-memory (used:" in log:  # what the inputs before it have leaked
        return True
    for module, offset in re.findall(r"^\s*#\d+ 0x[0-9a-f]+ +\(([^)+]*)\+(0x[0-9a-f]+)\)", log, re.MULTILINE):
        if "/fuzz_" in module:
            addresses, names = symbols(module)
            name = names[bisect.bisect(addresses, int(offset, 16)) - 1]
            if re.match(r"_*(asan|interceptor|interceptor_trampoline|sanitizer|mem|str)|(wrap_)?(m|c|re)alloc|free|main$|_start$|_ZNK?(6fuzzer|6__asan|11__sanitizer|7__ubsan)", name):
                continue
            return False
        if not re.search(r"/lib(c|m|pthread|gcc_s)\.so", module):
            return LIBRARIES.search(module) is not None
    return "ERROR: AddressSanitizer: SEGV" in log


def options_of(target):
    dictionary = ROOT / "fuzz" / f"{target}.dict"
    return OPTIONS + (OF_LIBRARIES if target in ENDINGS else OF_OURS) + ([f"-dict={dictionary}"] if dictionary.exists() else [])


def environment(target):
    options = SANITIZERS["ASAN_OPTIONS"] + (":symbolize=0:detect_leaks=0" if target in ENDINGS else "")
    return {**os.environ, **SANITIZERS, "ASAN_OPTIONS": options}


def is_refused(target, path):
    """Whether the program that users get says in words what it thinks of the file."""
    named = path.with_name(path.name + ENDINGS[target])
    shutil.copy(path, named)
    try:
        done = subprocess.run([PROGRAM, "select", named, "--target", "none", "--method", "pca", "--memory-limit", "1G"], capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return False
    finally:
        named.unlink()
    return done.returncode == 0 or (done.returncode == 3 and done.stderr.startswith(b"subspectra: error: "))


def is_done(run, seconds):
    now = time.monotonic()
    return now - run.start >= seconds and (now - run.last_edge >= seconds / 2 or now - run.start >= 3 * seconds)


def run_libfuzzer(target, seconds):
    run = Run(target)
    new, kept, findings = BUILD / "new" / target, ROOT / "fuzz" / "corpus" / target, BUILD / "findings"
    for folder in (new, findings):
        folder.mkdir(parents=True, exist_ok=True)
    with open(BUILD / f"{target}.log", "w") as whole_log:
        over = False
        while not over:
            left = 3 * seconds - (time.monotonic() - run.start)
            process = subprocess.Popen([BUILD / f"fuzz_{target}", f"-max_total_time={max(1, round(left))}", *options_of(target),
                                        f"-artifact_prefix={findings}/{target}-", new, kept],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       env=environment(target), text=True, errors="replace",
                                       start_new_session=True)  # Ctrl-C is for this program alone, which asks for the numbers
            log = []

            def listen(process=process, log=log):
                for line in process.stderr:
                    log.append(line)
                    whole_log.write(line)
                    seen = re.match(r"#\d+\s.*cov: (\d+) ft: (\d+)", line)
                    if seen is None:
                        continue
                    if int(seen[1]) > run.edges:
                        run.edges, run.last_edge = int(seen[1]), time.monotonic()
                    run.features = max(run.features, int(seen[2]))
                    del log[:-200]  # the end is what matters

            listener = threading.Thread(target=listen)
            listener.start()
            asked = False
            while process.poll() is None:
                time.sleep(0.2)
                if (is_done(run, seconds) or stopping.is_set()) and not asked:
                    process.send_signal(signal.SIGUSR1)  # libFuzzer ends and tells its numbers
                    asked = True
            listener.join()
            text = "".join(log)
            executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
            run.executions += int(executed[1]) if executed else 0
            over = True
            if process.returncode != 0:
                artifact = re.search(r"Test unit written to (\S+)", text)
                path = pathlib.Path(artifact[1]) if artifact else None
                if path and target in ENDINGS and in_a_library(text) and is_refused(target, path):
                    run.contained += 1
                    (BUILD / "contained").mkdir(exist_ok=True)
                    path.rename(BUILD / "contained" / path.name)
                    over = stopping.is_set() or is_done(run, seconds)
                else:
                    run.findings.append(str(path or f"see build/fuzz/{target}.log"))
    run.seconds = time.monotonic() - run.start
    run.quiet = time.monotonic() - run.last_edge
    return run


def run_problems(seconds, first):
    """Problems that no run before has had, as far as docs/fuzzing.json knows."""
    run = Run(PROBLEMS)
    result = BUILD / f"{PROBLEMS}.json"
    with open(BUILD / f"{PROBLEMS}.log", "w") as log:
        process = subprocess.Popen([ROOT / "build" / "release" / "certificate_fuzzer", "--problems", "1000000000", "--seconds", str(seconds),
                                    "--seed", str(first), "--json", result], stdout=log, stderr=log)
        while process.poll() is None:
            time.sleep(0.2)
            if stopping.is_set():
                process.terminate()
    run.seconds = time.monotonic() - run.start
    if process.returncode not in (0, 1) or not result.exists():
        if not stopping.is_set():
            run.findings.append(f"see build/fuzz/{PROBLEMS}.log")
        return run
    told = json.loads(result.read_text())
    run.executions, run.decades = told["problems"], told["decades"]
    run.findings = [f"see build/fuzz/{PROBLEMS}.log"] * told["findings"]
    return run


def run_page(seconds, first):
    """Documents that no run before has had, as far as docs/fuzzing.json knows."""
    run = Run(PAGE)
    result = BUILD / f"{PAGE}.json"
    result.unlink(missing_ok=True)
    with open(BUILD / f"{PAGE}.log", "w") as log:
        process = subprocess.Popen(["node", ROOT / "report" / "test" / "fuzz.mjs", "--seconds", str(seconds), "--seed", str(1 + first), "--json", result],
                                   stdout=log, stderr=log, env={**os.environ, "SUBSPECTRA_PROGRAM": str(PROGRAM)}, start_new_session=True)
        while process.poll() is None:
            time.sleep(0.2)
            if stopping.is_set():
                process.terminate()
    run.seconds = time.monotonic() - run.start
    if process.returncode not in (0, 1) or not result.exists():
        run.findings.append(f"see build/fuzz/{PAGE}.log")
        return run
    told = json.loads(result.read_text())
    run.executions = told["executions"]
    run.findings = [f"seed {one['seed']}: {one['words']}" for one in told["findings"]]
    return run


def minimize(target):
    """Adds to the corpus what reaches an edge that it does not; -use_counters=0: how often it is passed does not count."""
    if target in PLAIN:
        return
    new, kept = BUILD / "new" / target, ROOT / "fuzz" / "corpus" / target
    for folder in (new, kept):
        folder.mkdir(parents=True, exist_ok=True)
    before = len(list(kept.iterdir()))
    with open(BUILD / f"{target}.merge.log", "w") as log:
        subprocess.run([BUILD / f"fuzz_{target}", "-merge=1", "-use_counters=0", *options_of(target), kept, new], stdin=subprocess.DEVNULL,
                       stdout=log, stderr=log, env=environment(target), check=False)
    files = list(kept.iterdir())
    print(f"{target:<21} {before:>4} inputs before, {len(files):>4} now, {sum(file.stat().st_size for file in files):,} bytes", flush=True)


def add_decades(known, new):
    """Entries and worst errors by decade of the condition."""
    for old, more in zip(known, new):
        for field in ("entries", "certified", "findings"):
            old[field] += more[field]
        for field in ("worst_certified", "worst_uncertified"):
            old[field] = max(old[field], more[field])


def record(runs):
    """Executions, seconds, findings and contained crashes add up over the runs; edges, features and quiet are of the last one."""
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    for run in runs:
        entry = run.entry()
        old = known.get(run.target)
        if old is not None:
            for field in ("executions", "seconds", "contained", "findings"):
                entry[field] += old[field]
            if "decades" in old and "decades" in entry:
                add_decades(old["decades"], entry["decades"])
            if "decades" in old:
                entry["decades"] = old["decades"]
        entry["runs"] = (old["runs"] if old else 0) + 1
        entry["date"] = datetime.date.today().isoformat()
        entry["commit"] = commit
        known[run.target] = entry
    RECORD.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--minimize", action="store_true")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("FUZZ_JOBS", "2")))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("targets", nargs="*")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(targets()))
        return 0
    chosen = arguments.targets or targets()
    unknown = [target for target in chosen if target not in targets()]
    if unknown:
        sys.exit(f"no such target: {', '.join(unknown)}; there are {', '.join(targets())}")
    if arguments.minimize:
        for target in chosen:
            minimize(target)
        return 0
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    BUILD.mkdir(parents=True, exist_ok=True)
    plain = {PROBLEMS: run_problems, PAGE: run_page}
    runs = []

    def one(target):
        if stopping.is_set():
            return
        if target in plain:
            run = plain[target](arguments.seconds, known.get(target, {}).get("executions", 0))
        else:
            run = run_libfuzzer(target, arguments.seconds)
        runs.append(run)
        print(run.line(), flush=True)
        for finding in run.findings:
            print(f"  {target}: a finding: {finding}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(one, chosen))
    runs.sort(key=lambda run: run.target)
    findings = sum(len(run.findings) for run in runs)
    print(f"{'together':<21} {sum(run.executions for run in runs):>11,} executions in {sum(run.seconds for run in runs):,.0f} s, {findings} findings")
    (BUILD / "summary.json").write_text(json.dumps({run.target: run.entry() for run in runs}, indent=1) + "\n")
    if arguments.record:
        record(runs)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
