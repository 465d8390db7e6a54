"""Fails when a string literal of the library names an option as the command line writes it.

The library names options by their fields, marked (src/core/spelling.hpp), and the border spells them. Comments may
speak of flags. Run with the root of the repository.
"""
import pathlib
import re
import sys

TOKENS = re.compile(
    r'R"(?P<ending>[^()\\ ]{0,16})\((?:.|\n)*?\)(?P=ending)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z])'(?:\\.|[^'\\\n])+'"
    r'|//[^\n]*|/\*(?:.|\n)*?\*/')
# --flag and --{}, or -k by itself; not the middle of a word, and no hyphen between two words.
FLAG = re.compile(r'(?<![A-Za-z0-9_-])(?:--[A-Za-z{]|-[a-z](?![A-Za-z0-9_.-]))')
# The one place that knows how the command line writes options.
ALLOWED = {'src/core/spelling.cpp'}


def flags_in(source):
    """(line, literal) of every literal with a flag."""
    for token in TOKENS.finditer(source):
        text = token.group(0)
        if text.startswith(('"', 'R"')) and FLAG.search(text):
            yield source.count('\n', 0, token.start()) + 1, text


def check_itself():
    found = lambda line: [text for _, text in flags_in(line)]
    assert found('f("use --ridge auto"); // --here not')
    assert found('f("give -k N");') and found('f("--{}", name);') and found('f("`fit -o`");')
    assert not found('f("cross-validation - and so on"); --k; char c = \'"\'; // "--x"')


def main(root):
    check_itself()
    failures = []
    for path in sorted(path for room in ('src', 'include', 'companions') for path in (root / room).rglob('*.?pp')):
        name = path.relative_to(root).as_posix()
        if name in ALLOWED:
            continue
        for line, text in flags_in(path.read_text(encoding='utf-8')):
            failures.append(f'{name}:{line}: {text[:120]}')
    for failure in failures:
        print(failure)
    if failures:
        print(f'{len(failures)} texts name a flag; name the field, marked: \u27e8time_limit\u27e9 (src/core/spelling.hpp)')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1])))
