"""An engine takes the method's own struct of options: no other struct of src/ has two of its fields. second_structs.py ROOT."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])

# What belongs to a run and not to a method: a struct of an engine may have it, whatever the methods call their fields.
RUN_WIDE = {"threads", "memory_limit", "seed", "criterion", "k"}

# Structs that have two of a method's fields and are no copy of its options, and why.
EXCEPTIONS = {
    "src/solvers/group_lasso.hpp: GroupLassoOptions": "a library: gloss, sfd, sda, spca and rvm-entry solve their problems with it",
    "src/solvers/basis_pursuit.hpp: BasisPursuitOptions": "a library: it knows nothing of sulda",
    "src/cluster/kmeans.hpp: KMeansOptions": "a library: it groups the rows for `cluster`, whichever method chose their features",
    "src/evaluate/inner_comparison.hpp: Arm": "points along the lambdas of whatever Method it holds",
    "src/verify/claims.hpp: ClaimedEntry": "what a result file says of a set; verify shares nothing with the methods",
}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def body_at(text, brace):
    """What stands between the brace at this place and the one that closes it."""
    depth = 0
    for place in range(brace, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[brace + 1:place]
    sys.exit("a brace is not closed")


def own_statements(body):
    """The statements of a struct itself: what stands in inner braces (functions, inner types, initial values) is left out."""
    flat, depth = [], 0
    for character in body:
        depth -= character == "}"
        if depth == 0:
            flat.append(";" if character == "}" else character)
        depth += character == "{"
    return "".join(flat).replace("{", " ").split(";")


def fields_of(body):
    names = set()
    for statement in own_statements(body):
        words = re.sub(r"\b(public|private|protected)\s*:", "", statement).strip()
        words = re.sub(r"^,", "auto ", words)  # of `Index a{1}, b = 2` the brace has ended a statement
        if re.match(r"(static|using|friend|template|struct|class|enum|explicit|virtual|typedef|\[\[nodiscard\]\])", words):
            continue
        while (shorter := re.sub(r"<[^<>]*>", "", words)) != words:
            words = shorter
        # A function has its parameters before any initial value; of `double a = 0.0, b = 1.0` each is a field.
        if "(" in words.split("=")[0]:
            continue
        declared = re.match(r"(?:const |mutable |unsigned )*[\w:]+[\s*&]+(\w.*)$", words, re.S)
        if declared:
            names.update(re.match(r"\w+", part.strip()).group() for part in declared.group(1).split(",") if re.match(r"\s*[a-zA-Z_]\w*\s*(=|$)", part))
    return names


def structs_of(text):
    """(name, fields, body) of every struct, inner ones too."""
    text = without_comments(text)
    for found in re.finditer(r"\bstruct\s+(?:\[\[nodiscard\]\]\s+)?(?:\w+_EXPORT\s+)?(\w+(?:::\w+)*)\s*(?:final\s*)?(?::[^{};]*)?\{", text):
        body = body_at(text, found.end() - 1)
        yield found.group(1), fields_of(body), body


methods = {}
for header in sorted((root / "include/subspectra").glob("*.hpp")):
    for name, fields, body in structs_of(header.read_text(encoding="utf-8")):
        if re.search(r"\bMethodTraits kTraits\b", body):
            methods[name] = fields - RUN_WIDE

structs, wrong, used = 0, [], set()
for header in sorted((root / "src").rglob("*.hpp")):
    for name, fields, body in structs_of(header.read_text(encoding="utf-8")):
        structs += 1
        if "kTraits" in body:  # options of something else that users choose by name, described and validated where they stand
            continue
        nearest = max(methods, key=lambda method: (len(fields & methods[method]), -len(methods[method])))
        shared = fields & methods[nearest]
        if len(shared) < 2:
            continue
        place = f"{header.relative_to(root).as_posix()}: {name}"
        if place in EXCEPTIONS:
            used.add(place)
        else:
            wrong.append(f"{place} has {', '.join(sorted(shared))} of {nearest}")

wrong += [f"{place} is no exception any more: take it out of the list" for place in sorted(EXCEPTIONS.keys() - used)]
if wrong:
    sys.exit("an engine takes the method's struct, without a second one beside it (CONTRIBUTING.md):\n  " + "\n  ".join(wrong))
if len(methods) < 30 or structs < 100 or not {"l2", "lambda", "max_iterations"} <= methods.get("Sda", set()):
    sys.exit(f"{len(methods)} methods and {structs} structs were found: this test has not read them")
print(f"{structs} structs beside {len(methods)} methods")
