#!/usr/bin/env python3
"""Runs the templates of docs/scale.md as their schedulers would, in a loop, and compares with one run: the shell of the Slurm array, and
that of the Nextflow processes. usage: scale.py SOURCE_DIR PROGRAM"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

root, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
page = (root / "docs" / "scale.md").read_text()
PARTS = 3


def block(marker):
    found = re.search(r"<!-- %s:[^\n]*-->\n```[a-z]*\n(.*?)```" % marker, page, re.S)
    if not found:
        sys.exit("docs/scale.md has no block after <!-- %s: ... -->" % marker)
    return found.group(1)


def run(script, folder, **variables):
    environment = {**os.environ, **variables, "PATH": "%s:%s" % (folder, os.environ["PATH"])}
    done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("failed with %d:\n%s\n%s" % (done.returncode, script, done.stderr))


def contents(path):
    result = json.loads(path.read_text())
    result.pop("timing")
    result["options"].pop("threads")
    return result


def study():
    generator = random.Random(7)
    lines = ["class," + ",".join("f%d" % j for j in range(8))]
    for i in range(30):
        kind = "ab"[i % 2]
        lines.append(kind + "," + ",".join("%.4f" % (generator.gauss(0, 1) + (kind == "b" and j < 2)) for j in range(8)))
    return "\n".join(lines) + "\n"


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "study.csv").write_text(study())
    (folder / "subspectra").symlink_to(program)
    array = block("slurm-array")
    line = re.search(r"subspectra (evaluate .*?) *\\\n", array).group(1)
    run("subspectra %s --quiet -o whole.json" % line, folder)

    slurm = {"SLURM_ARRAY_TASK_COUNT": str(PARTS), "SLURM_CPUS_PER_TASK": "1"}
    for i in [2, 3, 1]:
        run(array, folder, SLURM_ARRAY_TASK_ID=str(i), **slurm)
    lost = folder / "part2.json"
    whole_part = lost.read_bytes()
    lost.unlink()
    kept = (folder / "part1.json").stat().st_mtime_ns
    for i in range(1, PARTS + 1):  # submitted again: only what was lost is run
        run(array, folder, SLURM_ARRAY_TASK_ID=str(i), **slurm)
    faults = []
    if lost.read_bytes() != whole_part:
        faults.append("a part that was run again is another file")
    if (folder / "part1.json").stat().st_mtime_ns != kept:
        faults.append("a part that was there was run again")
    run(block("slurm-merge"), folder)
    if contents(folder / "result.json") != contents(folder / "whole.json"):
        faults.append("the Slurm array gives another result than one run")
    if not (folder / "result.html").stat().st_size > 0:
        faults.append("the Slurm array writes no page")

    nextflow = block("nextflow")
    scripts = dict(re.findall(r"process (\w+) \{.*?\"\"\"\n(.*?)\"\"\"", nextflow, re.S))
    options = re.search(r"params\.options = '(.*)'", nextflow).group(1)

    def filled(script, **values):
        text = re.sub(r"\$\{([\w.]+)\}", lambda found: values[found.group(1).replace(".", "_")], script)
        return text

    (folder / "next").mkdir()
    for i in range(1, PARTS + 1):
        (folder / "result.json").unlink(missing_ok=True)
        run(filled(scripts["part"], data="study.csv", params_options=options, task_cpus="1", i=str(i), params_parts=str(PARTS)), folder)
        (folder / ("part%d.json" % i)).rename(folder / "next" / ("part%d.json" % i))
    run(filled(scripts["merge"], data="study.csv", parts="next/part3.json next/part1.json next/part2.json"), folder)
    if contents(folder / "result.json") != contents(folder / "whole.json"):
        faults.append("the Nextflow processes give another result than one run")
    print("\n".join(faults) if faults else "the templates of docs/scale.md give the result of one run")
    sys.exit(bool(faults))
