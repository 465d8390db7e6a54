#!/usr/bin/env python3
"""The rooms of src/ have one order, src/rooms.txt, and every include points down it.

usage: rooms_test.py [SOURCE_FOLDER]

Read from the text of the files alone. Refused: an include of a later room, a folder that is not in the list or a room without a
folder, a cycle (told with its includes), a table in CONTRIBUTING.md that differs from the list, a library's header that one room
keeps to itself, and a number of public headers outside 15 to 20.
"""
import re
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
SUFFIXES = {".hpp", ".cpp", ".h", ".c"}

# What only these rooms include: decompositions are compiled once, in the room that is named after them.
KEPT = {
    "Eigen/Cholesky": {"eigen", "verify"},  # verify shares nothing with what it checks
    "Eigen/Eigenvalues": {"eigen"},
    "Eigen/LU": {"eigen"},
    "Eigen/QR": {"eigen"},
    "Eigen/SVD": {"eigen"},
    "Eigen/Dense": set(),
    "Spectra/": {"eigen"},
}


def includes(path):
    """(line, quoted or bracketed, what) of every include of a file."""
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def read_rooms(path):
    """{room: what is in it}, in the order of the list."""
    rooms = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        name, text = line.split(None, 1)
        assert name not in rooms, f"{path}: {name} stands twice"
        rooms[name] = text.strip()
    return rooms


def find_cycle(arrows):
    """A list of rooms a, b, ..., a along arrows {room: {room: where}}, or nothing."""
    done = set()

    def visit(room, trail):
        if room in trail:
            return trail[trail.index(room):] + [room]
        if room in done:
            return None
        for other in arrows.get(room, {}):
            cycle = visit(other, trail + [room])
            if cycle:
                return cycle
        done.add(room)
        return None

    for room in arrows:
        cycle = visit(room, [])
        if cycle:
            return cycle
    return None


def check_sources(root, rooms):
    """What is wrong with the folders of src/ and the includes in them."""
    wrong = []
    source = root / "src"
    folders = {p.name for p in source.iterdir() if p.is_dir() and any(q.suffix in SUFFIXES for q in p.rglob("*"))}
    for room in sorted(folders - set(rooms)):
        wrong.append(f"src/{room} is not in src/rooms.txt: add it where it belongs")
    for room in sorted(set(rooms) - folders):
        wrong.append(f"src/rooms.txt names {room}, and there is no such folder: take it out")
    place = {room: i for i, room in enumerate(rooms)}
    arrows = {}
    for path in sorted(p for p in source.rglob("*") if p.suffix in SUFFIXES):
        room = path.relative_to(source).parts[0]
        for line, _, what in includes(path):
            where = f"{path.relative_to(root)}:{line}"
            for kept, homes in KEPT.items():
                if what.startswith(kept) and room not in homes:
                    wrong.append(f"{where} includes <{what}>, which " +
                                 (f"only {', '.join(sorted(homes))} does" if homes else "drags in every decomposition"))
            if not (source / what).is_file():
                continue
            other = what.split("/")[0]
            if "/" not in what:
                wrong.append(f"{where} includes \"{what}\" without its room")
            if other == room:
                continue
            arrows.setdefault(room, {}).setdefault(other, where)
            if room in place and other in place and place[other] > place[room]:
                wrong.append(f"{where}: {room} comes before {other} in src/rooms.txt and may not include {what}")
    cycle = find_cycle(arrows)
    if cycle:
        steps = (f"{a} -> {b} ({arrows[a][b]})" for a, b in zip(cycle, cycle[1:]))
        wrong.append("the rooms form a cycle: " + ", ".join(steps))
    return wrong


def check_public_headers(root):
    """15 to 20 of them, on their own feet: they include neither src/ nor what its users need not have."""
    public = root / "include" / "subspectra"
    if not (public / "subspectra.hpp").is_file():
        return []
    wrong = []
    headers = sorted(p for p in public.rglob("*") if p.suffix in SUFFIXES)
    if not 15 <= len(headers) <= 20:
        wrong.append(f"{len(headers)} public headers; 15 to 20 are wanted")
    for path in headers:
        for line, bracket, what in includes(path):
            where = f"{path.relative_to(root)}:{line}"
            if bracket == '"':
                wrong.append(f"{where} includes \"{what}\"; public headers include each other as <subspectra/...>")
            elif what.startswith(("nlohmann/", "fmt/")):
                wrong.append(f"{where} includes <{what}>, which a user of the library need not have")
            elif what.startswith("subspectra/") and not (root / "include" / what).is_file():
                wrong.append(f"{where} includes <{what}>, which is not there")
    return wrong


def check_contributing(root, rooms):
    """The table of CONTRIBUTING.md has the rooms of the list, in its order."""
    rows = re.findall(r"^\| `([a-z_]+)` \| (.+) \|$", (root / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M)
    shown = [name for name, _ in rows if name in rooms or (root / "src" / name).is_dir()]
    if shown != list(rooms):
        return [f"the table of rooms in CONTRIBUTING.md has {', '.join(shown)}; src/rooms.txt has {', '.join(rooms)}"]
    return []


def check(root):
    rooms = read_rooms(root / "src" / "rooms.txt")
    return check_sources(root, rooms) + check_public_headers(root) + check_contributing(root, rooms)


def check_the_checks():
    """Small trees with one fault each: what is not refused there would not be refused here either."""
    sound = {
        "src/rooms.txt": "# order\nlow   below\nhigh  above\n",
        "src/low/a.hpp": "#pragma once\n",
        "src/high/b.cpp": '#include "low/a.hpp"\n',
        "CONTRIBUTING.md": "| `low` | below |\n| `high` | above |\n",
    }
    faults = {
        "": {},
        "comes before high": {"src/low/c.cpp": '#include "high/b.hpp"\n', "src/high/b.hpp": ""},
        "form a cycle": {"src/low/c.cpp": '#include "high/b.hpp"\n', "src/high/b.hpp": ""},
        "is not in src/rooms.txt": {"src/new/d.cpp": ""},
        "no such folder": {"src/rooms.txt": sound["src/rooms.txt"] + "gone  away\n"},
        "which only eigen does": {"src/low/c.cpp": "#include <Eigen/SVD>\n"},
        "the table of rooms": {"CONTRIBUTING.md": "| `high` | above |\n| `low` | below |\n"},
        "1 public headers": {"include/subspectra/subspectra.hpp": ""},
        "need not have": {"include/subspectra/subspectra.hpp": "#include <fmt/format.h>\n"},
    }
    missed = []
    for sentence, changes in faults.items():
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**sound, **changes}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            said = check(Path(folder))
        if (not sentence and said) or not any(sentence in one for one in said or [""]):
            missed.append(f"a tree with a fault should say '{sentence}' and says {said}")
    return missed


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    wrong = check_the_checks() + check(root)
    for sentence in wrong:
        print(sentence)
    if not wrong:
        print("every include keeps to the order of the rooms")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
