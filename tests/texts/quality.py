"""bench/quality: its page is that of its numbers, and it counts as it says. Runs nothing of what it compares: quality.py ROOT."""
import collections
import importlib.machinery
import importlib.util
import pathlib
import random
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("quality", str(ROOT / "bench" / "quality"))
spec = importlib.util.spec_from_loader("quality", loader)
quality = importlib.util.module_from_spec(spec)
loader.exec_module(quality)


def record(table, contender, split, error=None, features=3, seconds=0.5, **more):
    answer = {"table": table, "contender": contender, "split": split, "train": 40, "test": 20, "trivial": 0.5, "seconds": seconds} | more
    return answer | ({"error": error, "features": features, "chosen": {"method": "gloss", "k": features}} if error is not None else {})


def numbers(records):
    tables = {r["table"]: {"rows": 60, "features": 9, "classes": 3 if r["table"].startswith("many") else 2} for r in records}
    return {"tables": tables, "versions": {"ours": "b", "rival": "r"}, "train_rows": 2000, "limit": 120, "records": records}


def row_of(page, name):
    """Cells of the first row that begins with the name."""
    line = next(line for line in page.splitlines() if line.startswith(f"| {name} |") or line.startswith(f"| {name}† |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def the_page_is_that_of_the_numbers():
    import json
    if quality.NUMBERS.exists():
        for path, text in quality.pages(json.loads(quality.NUMBERS.read_text(encoding="utf-8"))).items():
            assert text == path.read_text(encoding="utf-8"), f"{path} is not that of docs/quality.json: bench/quality --write"


def a_table_has_one_shape_and_the_guide_its_means():
    tables = {"one": (60, 9, 2), "two": (60, 9, 2), "wide": (60, 900, 2), "many": (60, 900, 5), "tall": (1000, 9000, 2)}
    shapes = {name: quality.shape_of(dict(zip(("rows", "features", "classes"), shape))) for name, shape in tables.items()}
    assert shapes == {"one": "short", "two": "short", "wide": "wide, 2 classes", "many": "wide, more classes", "tall": "tall"}
    made = numbers([record("one", "nsc", 0, 0.1, 3), record("two", "nsc", 0, 0.3, 5), record("one", "bare fit", 0, 0.1)])
    text = quality.guide("before\n" + quality.MARKS[0] + "old\n" + quality.MARKS[1] + "after\n", made)
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| nsc | **20.0 / 4** |" in text and "bare fit" not in text, text  # bare fit lacks a table of the shape


def means_are_over_tables_and_features_are_medians():
    page = quality.page(numbers([
        record("one", "bare fit", 0, 0.1, 3), record("one", "bare fit", 1, 0.3, 5), record("two", "bare fit", 0, 0.4, 7),
        record("two", "bare fit", 1, 0.4, 7), record("many", "bare fit", 0, 0.5, 50), record("many", "bare fit", 1, 0.7, 70)]))
    cells = row_of(page, "bare fit")
    assert cells[1] == "30.0" and cells[2] == "60.0", cells   # (20 + 40)/2 of the two, 60 of the one with more classes
    assert cells[3] == "7", cells                               # the median of 4, 7 and 60


def a_fit_that_was_ended_guesses_the_largest_class():
    page = quality.page(numbers([record("one", "bare fit", 0, 0.1), record("one", "bare fit", 1, failed="over 120 s")]))
    assert "| bare fit† | 30.0 |" in page, page                 # (10 + 50)/2
    assert "one, bare fit: over 120 s" in page


def a_contender_without_all_splits_has_no_mean():
    page = quality.page(numbers([record("one", "bare fit", 0, 0.1), record("one", "bare fit", 1, 0.1), record("one", "nsc", 0, 0.0)]))
    assert row_of(page, "nsc")[1] == "", page


def near_is_within_one_standard_error_of_the_best_that_selects():
    def near(bare):
        records = [record("one", "bare fit", s, bare) for s in range(3)]
        records += [record("one", "nsc", s, e) for s, e in enumerate((0.1, 0.2, 0.3))]
        records += [record("one", "svm on all", s, 0.0) for s in range(3)]  # does not select: it is no measure
        return quality.near_the_best(quality.Results(numbers(records)), "bare fit")
    # deviation .1, sqrt(1/3 + 20/40) = .913: the bar is .2913
    assert near(0.29) == (1, 1) and near(0.2915) == (0, 1)


def the_standard_error_counts_that_splits_overlap():
    results = quality.Results(numbers([record("one", "nsc", s, e) for s, e in enumerate((0.1, 0.2, 0.3))]))
    assert abs(results.standard_error("one", "nsc") - 0.1 * (1 / 3 + 1 / 2) ** 0.5) < 1e-12
    results = quality.Results(numbers([record("one", "nsc", s, 0.2) for s in range(2)]))
    assert abs(results.standard_error("one", "nsc") - (0.2 * 0.8 / 60) ** 0.5) < 1e-12  # splits that agree know no more than 60 rows
    results = quality.Results(numbers([record("one", "nsc", 0, 0.2)]))
    assert abs(results.standard_error("one", "nsc") - (0.2 * 0.8 / 20) ** 0.5) < 1e-12  # of one split


def splits_are_stratified_disjoint_and_always_the_same():
    import numpy as np
    table = quality.Table.__new__(quality.Table)
    labels = ["a"] * 30 + ["b"] * 9 + ["c"] * 3 + ["d"]
    random.Random(1).shuffle(labels)
    table.y = np.array(labels)
    table.classes = sorted(set(labels))
    for number in range(4):
        train, test = table.split(number, 2000)
        assert sorted([*train, *test]) == list(range(len(labels)))
        assert collections.Counter(table.y[train]) == {"a": 20, "b": 6, "c": 2, "d": 1}
        assert (table.split(number, 2000)[0] == train).all()
    assert (table.split(0, 2000)[0] != table.split(1, 2000)[0]).any()
    train, test = table.split(0, 22)
    assert len(train) + len(test) == len(labels) and abs(len(train) - 22) <= 2


def tables_come_back_as_they_were_written():
    import numpy as np
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        generator = np.random.default_rng(1)
        x = generator.standard_normal((12, 4)) * 10.0 ** generator.integers(-9, 9, 4)
        y = np.array(["1", "2"] * 6)
        for name in ("t.csv", "t.npz", "t.svm"):
            table = quality.Table.__new__(quality.Table)
            table.x, table.y, table.format, table.names = x, y, name[2:], [f"v{j}" for j in range(4)]
            table.write(range(12), folder / name)
            read = quality.Table(folder / name)
            assert (read.y == y).all(), name
            assert (np.abs(read.x - x) <= (0 if name != "t.svm" else 1e-14) * np.abs(x)).all(), name
        (folder / "matrix.csv").write_text("a,b\n1,2\n2,1\n")
        found = quality.find_tables(folder, "")
        assert [table.name for table in found] == ["t"] * 3, "a matrix has no labels"


def the_cache_keeps_the_last_answer_of_a_key():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cache.jsonl"
        key = {"table": "t", "split": 0, "contender": "nsc", "version": "v", "train_rows": 9}
        cache = quality.Cache(path)
        cache.add(key | {"error": 0.5})
        cache.add(key | {"error": 0.25})
        assert [r["error"] for r in quality.Cache(path).records.values()] == [0.25]


def a_command_over_its_limit_is_ended():
    code, seconds, _ = quality.run_command([sys.executable, "-c", "while True: pass"], 0.3)
    assert code is None and seconds >= 0.3
    code, seconds, errors = quality.run_command([sys.executable, "-c", "import sys; sys.exit('no')"], 60)
    assert code == 1 and errors == "no\n"


def shrinkage_is_the_difference_of_two_rules_on_the_same_sets():
    page = quality.page(numbers([record(table, name, 0, error, 20) for table, pair in
                                 {"one": (0.1, 0.2), "two": (0.3, 0.3), "many": (0.5, 0.4)}.items()
                                 for name, error in zip(("fisher 20", "fisher 20 plain"), pair)]))
    section = page[page.index("## What shrinkage does"):]
    assert row_of(section, "fisher 20")[1:] == ["-5.0 ± 5.0", "+10.0", "-10.0 (one)", "+10.0 (many)"], section
    assert "What shrinkage does" not in quality.page(numbers([record("one", "fisher 20", 0, 0.1)]))


def a_split_counts_where_all_have_answered():
    keys = [(table, split, name) for table in ("one", "two") for split in (0, 1) for name in ("a", "b")]
    wanted = {key: key[0] for key in keys}
    kept = quality.of_complete_splits(wanted, set(keys) - {("one", 1, "b"), ("two", 0, "a")})
    assert {key[:2] for key in kept} == {("one", 0), ("two", 1)} and len(kept) == 4


def every_contender_has_one_name():
    assert len({c.name for c in quality.CONTENDERS}) == len(quality.CONTENDERS)
    assert {c.name for c in quality.CONTENDERS if c.kind == "rival"} == set(quality.RIVALS)
    assert set(quality.RIVALS_THAT_SELECT) < set(quality.RIVALS)


tests = [test for name, test in list(globals().items()) if callable(test) and getattr(test, "__module__", "") == "__main__"
         and test not in (record, numbers, row_of)]
for test in tests:
    test()
print(f"{len(tests)} sentences about bench/quality hold")
