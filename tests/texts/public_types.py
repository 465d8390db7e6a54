"""Every type of the public headers is named in the examples of docs/cpp.md, which the tests compile and run: public_types.py ROOT."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
examples = "".join(re.findall(r"^```cpp\w*[^\n]*\n(.*?)^```$", (root / "docs/cpp.md").read_text(encoding="utf-8"), re.S | re.M))
named = set(re.findall(r"\w+", examples))
types, missing = 0, []
for header in sorted((root / "include/subspectra").glob("*.hpp")):
    text = re.sub(r"^namespace detail \{.*?^\}  // namespace detail$", "", header.read_text(encoding="utf-8"), flags=re.S | re.M)
    # Declared at the left margin with a body; specializations (EnumNames<...>) and forward declarations are not types of their own.
    for name in re.findall(r"^(?:struct|class|enum class) (?:SUBSPECTRA_EXPORT )?(\w+)(?: final)?(?: : [^{;]*)? \{", text, re.M):
        types += 1
        if name not in named:
            missing.append(f"{header.name}: {name}")
if missing or types < 50:
    sys.exit("docs/cpp.md has no example with\n  " + "\n  ".join(missing) + f"\n({types} types were found)")
print(f"{types} public types have an example")
