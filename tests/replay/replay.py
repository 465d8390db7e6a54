#!/usr/bin/python3
"""Runs the program on a fixed list of commands and compares what it says with what was recorded.

    replay.py check  --program build/release/subspectra [--only REGEX] [--jobs N]
    replay.py record --program build/release/subspectra [--only REGEX] [--jobs N]
    replay.py show   --program build/release/subspectra [--only REGEX]      what the cases give now, all files in full
    replay.py list [--only REGEX]

A change that is not meant to change any output is checked by this: exit code, standard output, standard error and
every file written are compared byte for byte, all digits of all numbers included. Only what really differs from run to
run is masked (see MASKS): times, and the version of the program. A change that is meant to change outputs records them
again, and the difference shows in the commit.

The commands stand in cases.py, the files they read in inputs.py and inputs/, what was recorded in expected/, one file
a case. The last digits depend on the kernels of OpenBLAS, so that these are fixed (OPENBLAS_CORETYPE): the answers are
the same on every CPU with AVX2 and FMA, and on others nothing is compared.

A digest that differs says that a file changed and not where: `show` with either program, and diff, says where.
"""
import argparse
import concurrent.futures
import difflib
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
import cases
import inputs

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected")
RECORDED_WITH = "recorded-with.txt"  # what the recording program says about itself, beside the cases' files
DEFAULT_PROGRAM = os.path.join(HERE, "..", "..", "build", "release", "subspectra")
COMMAND_TIMEOUT_S = 120
DIFF_LINES = 24
DIFF_WIDTH = 150

# Nothing of the caller's environment reaches the program.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "OPENBLAS_CORETYPE": "Haswell",
}

# What differs from run to run. Every pattern has two groups, which stay; what is between them is the mask.
MASKS = [
    # "search_s": 0.00123 in results, in events and in what `reproduce` tells of its run
    (re.compile(r'("(?:read|prepare|search|cluster|total|time)_s": ?)[-+.0-9e]+()'), "TIME"),
    # the version changes with every release, and nothing else does then
    (re.compile(r'("version": ?")[^"]*(")'), "VERSION"),
    # what an experiment measures
    (re.compile(r'("name": "[^"\n]*seconds",\n *"obtained": )[-+.0-9e]+()'), "TIME"),
    # icml06-fig1 (ICML06, Figure 1), seed 0, status heuristic, 0.3 s
    (re.compile(r"(, seed \d+, status \w+, )\d+\.\d( s\n)"), "TIME"),
    # the last column of the log of an exact search
    (re.compile(r"(\n +\d+ [a-z-]+ +\d+ +\d+ +\S+ +\S+ +\S+ ) *\d+\.\d(s)(?=\n)"), "TIME"),
]


# --- text that can be read, compared and kept in a repository ------------------------------------------------------


def readable(content):
    """Bytes as text: whatever is no printable UTF-8 becomes its number in brackets, so that nothing is lost."""
    text = content.decode("utf-8", errors="surrogateescape")
    out = []
    for c in text:
        code = ord(c)
        if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
            out.append("⟦%02x⟧" % (code - 0xDC00))
        elif c not in "\n\t" and (code < 32 or code == 127):
            out.append("⟦%02x⟧" % code)
        else:
            out.append(c)
    text = "".join(out)
    if text and not text.endswith("\n"):
        text += "⟦no newline at the end⟧\n"
    return text


def masked(text, directory):
    text = text.replace(directory, "WORK")
    for pattern, word in MASKS:
        text = pattern.sub(lambda match, word=word: match.group(1) + word + match.group(2), text)
    return text


def arrays_text(content):
    """The arrays of a .npy or .npz file; its bytes depend on the compressor and are not compared."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        loaded = np.load(file)
        members = [("", loaded)] if isinstance(loaded, np.ndarray) else [(name, loaded[name]) for name in loaded.files]
        lines = []
        for name, array in members:
            order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
            lines.append("array %s %s %s %s" % (name or "-", array.dtype.str, "x".join(map(str, array.shape)), order))
            lines.extend(" ".join(repr(value) for value in row) for row in np.atleast_2d(array).tolist())
    return "\n".join(lines) + "\n"


def file_text(path):
    with open(path, "rb") as file:
        content = file.read()
    if path.endswith((".npy", ".npz")):
        return arrays_text(content)
    if path.endswith(".gz"):
        content = gzip.decompress(content)
    if path.endswith(".png"):
        return "%d bytes, sha256 %s\n" % (len(content), hashlib.sha256(content).hexdigest())
    return readable(content)


# --- running a case ------------------------------------------------------------------------------------------------


def snapshot(directory):
    """Path below `directory` -> content, of every file in it."""
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, directory)] = file.read()
    return found


def quoted(word):
    return word if re.fullmatch(r"[-\w./:=,@%+]+", word) else "'" + word.replace("'", "'\\''") + "'"


def needed_inputs(words, available):
    """The input files that a command names, as a word or behind @."""
    names = (word[1:] if word.startswith("@") else word for word in words)
    return [name for name in names if name.split("/")[0] in available]


def put_inputs(case, available, source, directory):
    for step in case.steps:
        for name in needed_inputs(getattr(step, "words", ()), available):
            top = name.split("/")[0]
            if os.path.lexists(os.path.join(directory, top)):
                continue
            path = os.path.join(source, top)
            copy = shutil.copytree if os.path.isdir(path) else shutil.copy
            copy(path, os.path.join(directory, top))
    for name, content in case.files.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())


def command_line(step):
    line = "$ subspectra " + " ".join(map(quoted, step.words))
    if step.stdin is not None:
        line += "    < " + json.dumps(step.stdin)
    return line + ("    > " + step.stdout if step.stdout else "")


def run_program(step, program, directory):
    """How it ended, standard output, standard error."""
    with (open(step.stdout, "wb") if step.stdout else tempfile.TemporaryFile()) as out, tempfile.TemporaryFile() as err:
        try:
            done = subprocess.run([program] + step.words, cwd=directory, env=ENVIRONMENT, timeout=COMMAND_TIMEOUT_S,
                                  input=(step.stdin or "").encode(), stdout=out, stderr=err)
            ending = "exit code %d" % done.returncode
        except subprocess.TimeoutExpired:
            ending = "no end within %d s" % COMMAND_TIMEOUT_S
        written = []
        for file in (err,) if step.stdout else (out, err):
            file.seek(0)
            written.append(readable(file.read()))
    return [ending, *([""] if step.stdout else []), *written]


def run_command(step, case, program, directory, in_full):
    before = snapshot(directory)
    ending, out, err = run_program(step, program, directory)
    after = snapshot(directory)
    text = "%s\n%s\n" % (command_line(step), ending)
    sections = [("stdout", masked(out, directory)), ("stderr", masked(err, directory))]
    for name in sorted(after):
        if before.get(name) != after[name]:
            content = masked(file_text(os.path.join(directory, name)), directory)
            if name in case.unread and not in_full:
                content = "written\n"
            elif name in case.digests and not in_full:
                content = "%d characters, sha256 %s\n" % (len(content), hashlib.sha256(content.encode()).hexdigest())
            sections.append(("file " + name, content))
    sections += [("file " + name, "gone\n") for name in sorted(before) if name not in after]
    return text + "".join("--- %s\n%s" % section for section in sections if section[1])


def edit_file(step, directory):
    with open(os.path.join(directory, step.source)) as file:
        document = json.load(file)
    step.change(document)
    with open(os.path.join(directory, step.target), "w") as file:
        json.dump(document, file)
    return "# %s: %s, %s\n" % (step.target, step.source, step.says)


def run_case(case, program, available, source, work, in_full):
    directory = os.path.join(work, case.name)
    os.mkdir(directory)
    put_inputs(case, available, source, directory)
    parts = []
    for step in case.steps:
        parts.append(edit_file(step, directory) if isinstance(step, cases.Edit)
                     else run_command(step, case, program, directory, in_full))
    shutil.rmtree(directory)
    return "\n".join(parts)


def run_cases(chosen, program, jobs, in_full=False):
    """Yields (case, text) in the order of the cases."""
    with tempfile.TemporaryDirectory(prefix="subspectra-replay-") as work:
        source = os.path.join(work, "inputs")
        inputs.write_all(source)
        available = set(os.listdir(source))
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            texts = pool.map(lambda case: run_case(case, program, available, source, work, in_full), chosen)
            yield from zip(chosen, texts)


# --- recording and checking ----------------------------------------------------------------------------------------


def expected_path(name):
    return os.path.join(EXPECTED, name + ".txt")


def read_text(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write_text(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def around(line, at):
    """A window of the line, so that the place where two long lines part can be seen."""
    if len(line) <= DIFF_WIDTH:
        return line
    start = max(0, min(at - DIFF_WIDTH // 2, len(line) - DIFF_WIDTH))
    end = start + DIFF_WIDTH
    return ("..." if start > 0 else "") + line[start:end] + ("..." if end < len(line) else "")


def short_diff(expected, obtained):
    a, b = expected.splitlines(), obtained.splitlines()
    lines = []
    command = ""
    for tag, a0, a1, b0, b1 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for line in a[a0:a1] if tag == "equal" else ():
            command = line if line.startswith("$ ") else command
        if tag == "equal":
            continue
        lines.append("  " + around(command, 0))
        for i in range(max(a1 - a0, b1 - b0)):
            old = a[a0 + i] if a0 + i < a1 else None
            new = b[b0 + i] if b0 + i < b1 else None
            at = len(os.path.commonprefix([old or "", new or ""]))
            lines += ["  -" + around(old, at)] if old is not None else []
            lines += ["  +" + around(new, at)] if new is not None else []
    if len(lines) > DIFF_LINES:
        lines[DIFF_LINES:] = ["  ... and %d lines more" % (len(lines) - DIFF_LINES)]
    return "\n".join(lines)


def about(program):
    """BLAS, compiler and libraries of the program; threads are the machine's."""
    done = subprocess.run([program, "--version"], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith(("BLAS", "compiler", "libraries")))


def leftovers():
    names = {case.name + ".txt" for case in cases.ALL} | {RECORDED_WITH}
    return sorted(name for name in os.listdir(EXPECTED) if name not in names)


def record(chosen, program, jobs, whole):
    os.makedirs(EXPECTED, exist_ok=True)
    changed = 0
    for case, text in run_cases(chosen, program, jobs):
        path = expected_path(case.name)
        if not os.path.exists(path) or read_text(path) != text:
            changed += 1
            write_text(path, text)
    if whole:
        for name in leftovers():
            os.remove(os.path.join(EXPECTED, name))
        write_text(os.path.join(EXPECTED, RECORDED_WITH), about(program))
    print("%d recorded, %d of them new or changed" % (len(chosen), changed))
    return 0


def check(chosen, program, jobs, whole):
    failed = 0
    for case, text in run_cases(chosen, program, jobs):
        path = expected_path(case.name)
        if not os.path.exists(path):
            problem = "  nothing is recorded for this case; run replay.py record --only '^%s$'" % case.name
        elif read_text(path) != text:
            problem = short_diff(read_text(path), text)
        else:
            continue
        failed += 1
        print("FAILED %s\n%s" % (case.name, problem), flush=True)
    if whole and leftovers():
        failed += 1
        print("FAILED expected/ holds files of no case: %s" % ", ".join(leftovers()))
    recorded_with = os.path.join(EXPECTED, RECORDED_WITH)
    if failed and os.path.exists(recorded_with) and read_text(recorded_with) != about(program):
        print("The outputs were recorded by another build, which can change last digits:\n%sand this one is:\n%s"
              % (read_text(recorded_with), about(program)), end="")
    print("%d passed, %d failed" % (len(chosen) - min(failed, len(chosen)), failed))
    return 1 if failed else 0


def show(chosen, program, jobs, whole):
    del whole
    for case, text in run_cases(chosen, program, jobs, in_full=True):
        print("=== %s\n%s" % (case.name, text))
    return 0


def cpu_has(*flags):
    try:
        words = set(re.search(r"^flags\s*:(.*)$", read_text("/proc/cpuinfo"), re.MULTILINE).group(1).split())
    except (OSError, AttributeError):
        return False
    return words.issuperset(flags)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="?", choices=["check", "record", "show", "list"], default="check")
    parser.add_argument("--program", default=DEFAULT_PROGRAM, help="default: build/release/subspectra")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--jobs", type=int, default=2, help="cases run side by side; default 2")
    options = parser.parse_args()
    chosen = [case for case in cases.ALL if re.search(options.only, case.name)]
    if not chosen:
        parser.error("--only '%s' matches no case" % options.only)
    if options.mode == "list":
        print("\n".join(case.name for case in chosen))
        return 0
    if not cpu_has("avx2", "fma"):
        print("skipped: the outputs were recorded with kernels for AVX2 and FMA, which this CPU lacks")
        return 0
    program = os.path.abspath(options.program)
    if not os.access(program, os.X_OK):
        parser.error("%s is no program; build it, or name it with --program" % options.program)
    run = {"check": check, "record": record, "show": show}[options.mode]
    return run(chosen, program, options.jobs, whole=not options.only)


if __name__ == "__main__":
    sys.exit(main())
