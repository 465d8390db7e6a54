#!/usr/bin/env python3
"""Every fuzz target has inputs that the tests replay and a line in the table of docs/safety.md; the corpus stays small."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
MOST_FILES, MOST_BYTES = 300, 2 << 20

faults = []
size = 0
page = (ROOT / "docs" / "safety.md").read_text()
for source in sorted((ROOT / "fuzz").glob("*_fuzzer.cpp")):
    target = source.name.removesuffix("_fuzzer.cpp")
    inputs = list((ROOT / "fuzz" / "corpus" / target).glob("*"))
    size += sum(path.stat().st_size for path in inputs)
    if not 1 <= len(inputs) <= MOST_FILES:
        faults.append(f"fuzz/corpus/{target} has {len(inputs)} inputs; 1 to {MOST_FILES} are wanted")
    if not list((ROOT / "tests").glob(f"*/{target}_corpus_test.cpp")):
        faults.append(f"no tests/*/{target}_corpus_test.cpp replays the inputs of fuzz/corpus/{target}")
    if f"`{target}`" not in page:
        faults.append(f"docs/safety.md says nothing of the target `{target}`")
if size > MOST_BYTES:
    faults.append(f"fuzz/corpus has {size} bytes; {MOST_BYTES} are enough")
check = subprocess.run([sys.executable, ROOT / "scripts" / "update-safety-doc", "--check"], capture_output=True, text=True, check=False)
if check.returncode != 0:
    faults.append(check.stderr.strip())
print("\n".join(faults) if faults else "every fuzz target is replayed and told of")
sys.exit(bool(faults))
