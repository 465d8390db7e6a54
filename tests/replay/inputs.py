"""Writes the files that the commands of cases.py read: small, and the same ones on every machine.

The numbers come from random.Random(seed).random(), whose sequence Python promises to keep, and are rounded to a few
decimals, so that text and binary files hold the same values. The binary formats are written by the programs that people
write them with (numpy, scipy, h5py, anndata).
"""
import gzip
import os
import random
import shutil
import warnings
import zipfile

import h5py
import numpy as np
import scipy.io
import scipy.sparse

warnings.filterwarnings("ignore")

HERE = os.path.dirname(os.path.abspath(__file__))


# --- tables as lists of texts --------------------------------------------------------------------------------------


class Noise:
    """Numbers around 0 with variance 1, nearly normal, as texts of three decimals."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self):
        return sum(self.random.random() for _ in range(12)) - 6.0

    def text(self, mean=0.0, spread=1.0):
        return "%.3f" % (mean + spread * self.number())


def table(seed, rows, features, classes, informative, distance=1.5, names="f%d"):
    """Header and rows, the class last: feature j is shifted in class j modulo their number."""
    noise = Noise(seed)
    lines = [[names % j for j in range(features)] + ["class"]]
    for i in range(rows):
        label = i % len(classes)
        means = [distance if j < informative and j % len(classes) == label else 0.0 for j in range(features)]
        lines.append([noise.text(mean, 1.0 + 0.2 * (j % 3)) for j, mean in enumerate(means)] + [classes[label]])
    return lines


def with_column(lines, name, values, at=-1):
    """One more column, by default before the class."""
    columns = [name] + list(values)
    place = at % len(lines[0])
    return [line[:place] + [value] + line[place:] for line, value in zip(lines, columns)]


def column(lines, name):
    j = lines[0].index(name)
    return [line[j] for line in lines[1:]]


def text_of(lines, separator=","):
    return "".join(separator.join(line) + "\n" for line in lines)


TWO = table(1, rows=40, features=8, classes=["u", "v"], informative=4)
THREE = table(2, rows=45, features=7, classes=["red", "green", "blue"], informative=5)
WIDE = table(3, rows=14, features=30, classes=["u", "v"], informative=6)
WIDE_THREE = table(4, rows=18, features=24, classes=["a", "b", "c"], informative=6)
TINY = table(5, rows=12, features=4, classes=["u", "v"], informative=2)


def constant_and_copies():
    lines = with_column(TWO, "constant", ["7"] * 40)
    lines = with_column(lines, "copy", column(TWO, "f0"))
    sums = ["%.3f" % (float(a) + float(b)) for a, b in zip(column(TWO, "f1"), column(TWO, "f2"))]
    return with_column(lines, "sum", sums)


def with_weights():
    return with_column(THREE, "w", [str(i % 4) for i in range(45)])


def with_gaps():
    lines = [list(line) for line in TWO]
    for i, j, token in [(3, 0, "NA"), (5, 2, ""), (9, 2, "nan"), (20, 7, "?")]:
        lines[i][j] = token
    return lines


def with_patients():
    return with_column(TWO, "patient", ["p%d" % (i // 4) for i in range(40)])


def half_labelled():
    return [line if i == 0 or i % 3 else line[:-1] + [""] for i, line in enumerate(TWO)]


def class_of_one():
    return THREE[:31] + [THREE[31][:-1] + ["lonely"]]


def three_clusters():
    """Three groups of rows that eight of twelve features know of, without labels."""
    noise = Noise(6)
    lines = [["g%d" % j for j in range(12)]]
    for i in range(36):
        lines.append([noise.text(4.0 * ((i % 3) == (j % 3)) if j < 8 else 0.0) for j in range(12)])
    return lines


def positive():
    """Counts: nothing below 0, for the Laplacian without centring."""
    noise = Noise(7)
    lines = [["c%d" % j for j in range(9)] + ["class"]]
    for i in range(30):
        lines.append([str(max(0, round(4 + 2 * noise.number() + (5 if j < 4 and i % 2 else 0)))) for j in range(9)]
                     + ["even" if i % 2 == 0 else "odd"])
    return lines


def images():
    """Pictures of 4 x 4 pixels of two kinds: a bright corner, above or below."""
    noise = Noise(8)
    lines = [["p%d" % j for j in range(16)] + ["kind"]]
    for i in range(32):
        bright = {0, 1, 4, 5} if i % 2 == 0 else {10, 11, 14, 15}
        lines.append(["%d" % max(0, min(255, round(100 + 20 * noise.number() + (60 if j in bright else 0))))
                      for j in range(16)] + ["high" if i % 2 == 0 else "low"])
    return lines


def factorial():
    """A class that no feature knows of: every mean is the same in both."""
    return [["a", "b", "c", "class"]] + [[str(i & 1), str(i >> 1 & 1), str(i >> 2 & 1), "xy"[i >> 3 & 1]]
                                         for i in range(32)]


def scaled(a, b):
    """Two columns of small whole numbers with these exponents behind them."""
    return [["a", "b", "class"]] + [["%de%d" % (i * 7 % 5 + 1, a), "%de%d" % (i * 3 % 7 + 3 * (i % 2), b), "uv"[i % 2]]
                                    for i in range(16)]


def broad():
    """More columns than dspca takes, all of which vary."""
    return [["x%d" % j for j in range(2001)]] + [[str(i * (j % 6 + 1) % 7) for j in range(2001)] for i in range(3)]


def numbers_of(lines):
    return np.array([[float(value) for value in line[:-1]] for line in lines[1:]])


def labels_of(lines):
    return np.array([line[-1] for line in lines[1:]])


X, Y, NAMES = numbers_of(TWO), labels_of(TWO), np.array(TWO[0][:-1])
SPARSE = scipy.sparse.csr_matrix(np.where(np.abs(numbers_of(THREE)) > 0.8, numbers_of(THREE), 0.0))
SPARSE_Y = labels_of(THREE)


# --- the files -----------------------------------------------------------------------------------------------------


def text_tables(put):
    put("two.csv", text_of(TWO))
    put("two.tsv", text_of(TWO, "\t"))
    put("three.csv", text_of(THREE))
    put("wide.csv", text_of(WIDE))
    put("wide3.csv", text_of(WIDE_THREE))
    put("tiny.csv", text_of(TINY))
    put("copies.csv", text_of(constant_and_copies()))
    put("weights.csv", text_of(with_weights()))
    put("gaps.csv", text_of(with_gaps()))
    put("patients.csv", text_of(with_patients()))
    put("semi.csv", text_of(half_labelled()))
    put("lonely.csv", text_of(class_of_one()))
    put("clusters.csv", text_of(three_clusters()))
    put("counts.csv", text_of(positive()))
    put("images.csv", text_of(images()))
    put("factorial.csv", text_of(factorial()))
    put("large-scale.csv", text_of(scaled(0, 200)))
    put("small-scale.csv", text_of(scaled(-180, -190)))
    put("huge.csv", text_of(scaled(72, 72)))
    put("broad.csv", text_of(broad()))
    put("unlabelled.csv", text_of([line[:-1] for line in TWO]))
    put("headless.csv", text_of([line[:-1] + [str(i % 2)] for i, line in enumerate(TINY[1:])]))
    put("ids.csv", text_of(with_column(TINY, "id", ["row%d" % i for i in range(12)], at=0)))
    put("latin1.csv", text_of([["höhe"] + TINY[0][1:]] + TINY[1:]).encode("latin-1"))
    put("windows.csv", b"\xef\xbb\xbf" + text_of(TINY).replace("\n", "\r\n").encode())
    put("new-rows.csv", text_of([TWO[0][:-1]] + [line[:-1] for line in TWO[1:9]]))
    for name, lines, separator in [("two.csv.gz", TWO, ","), ("two.tsv.gz", TWO, "\t")]:
        put(name, gzip.compress(text_of(lines, separator).encode(), mtime=0))


def groups_files(put):
    put("groups.csv", "feature,group\nf0,first\nf1,first\nf2,second\nf3,second\nf6,third\n")
    put("names.txt", "f1\nf4\n")
    put("refit.txt", "# two features\nf0,0.5\nf1,-0.25\n")
    put("refit-names.txt", "f0\nf2\nf5\n")


def matrices(put, path):
    """Scatter matrices of the three classes, and one without names."""
    x, y = numbers_of(THREE)[:, :5], labels_of(THREE)
    total = np.cov(x, rowvar=False, bias=True)
    within = sum(np.mean(y == c) * np.cov(x[y == c], rowvar=False, bias=True) for c in sorted(set(y)))
    # Rounded, a matrix of low rank is no longer positive semidefinite: products of whole numbers are.
    shifts = [[round(100 * float(v)) for v in x[y == c].mean(axis=0) - x.mean(axis=0)] for c in sorted(set(y))]
    between = [[sum(row[i] * row[j] for row in shifts) / 10000.0 for j in range(5)] for i in range(5)]

    def rounded(a):
        a = np.round(a, 6)
        return (a + a.T) / 2.0

    def csv(a, names, separator=","):
        lines = [list(names)] if names else []
        return text_of(lines + [["%.6f" % value for value in row] for row in a], separator)

    names = ["f%d" % j for j in range(5)]
    put("between.csv", text_of([names] + [["%.4f" % value for value in row] for row in between]))
    put("within.csv", csv(rounded(within), names))
    put("covariance.csv", csv(rounded(total), names))
    put("covariance.tsv.gz", gzip.compress(csv(rounded(total), names, "\t").encode(), mtime=0))
    put("nameless.csv", csv(rounded(total), None))
    np.save(path("covariance.npy"), rounded(total))


def libsvm(put):
    def row(label, values, base):
        pairs = ["%d:%s" % (j + base, repr(float(v))) for j, v in enumerate(values) if v != 0.0]
        return " ".join([label] + pairs) + "\n"

    dense = SPARSE.toarray()
    codes = {name: str(k) for k, name in enumerate(sorted(set(SPARSE_Y)))}
    put("sparse.svm", "".join(row(codes[c], v, 1) for c, v in zip(SPARSE_Y, dense)))
    put("sparse0.libsvm", "".join(row(codes[c], v, 0) for c, v in zip(SPARSE_Y, dense)))
    put("sparse.svm.gz", gzip.compress("".join(row(codes[c], v, 1) for c, v in zip(SPARSE_Y, dense)).encode(), mtime=0))


def arff(put):
    header = "% a comment\n@relation two\n" + "".join("@attribute %s numeric\n" % name for name in NAMES)
    put("two.arff", header + "@attribute class {u,v}\n@data\n" + text_of(TWO[1:]))
    dense = SPARSE.toarray()
    put("sparse.arff", "@relation s\n" + "".join("@attribute f%d real\n" % j for j in range(7))
        + "@attribute class {red,green,blue}\n@data\n"
        + "".join("{" + ", ".join(["%d %s" % (j, repr(float(v))) for j, v in enumerate(row) if v != 0.0] + ["7 " + c])
                  + "}\n" for row, c in zip(dense, SPARSE_Y)))


def numpy_files(path):
    np.save(path("two.npy"), X)
    np.save(path("float32.npy"), np.asfortranarray(X.astype(np.float32)))
    np.savez(path("two.npz"), X=X, y=Y, names=NAMES)
    np.savez_compressed(path("packed.npz"), X=X, y=np.arange(40) % 2)
    scipy.sparse.save_npz(path("csr.npz"), SPARSE)
    scipy.sparse.save_npz(path("csc.npz"), SPARSE.tocsc(), compressed=False)
    np.savez(path("csc-labels.npz"), data=SPARSE.tocsc().data, indices=SPARSE.tocsc().indices,
             indptr=SPARSE.tocsc().indptr, shape=SPARSE.shape, format="csc", y=SPARSE_Y)
    # What cannot be read.
    np.save(path("vector.npy"), X[:, 0])
    np.save(path("cube.npy"), np.zeros((2, 3, 4)))
    np.save(path("complex.npy"), X.astype(complex))
    np.save(path("objects.npy"), np.array([[1, "a"]], dtype=object))
    np.save(path("texts.npy"), np.array([["a", "b"]]))
    np.save(path("structured.npy"), np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]))
    np.save(path("no-rows.npy"), np.zeros((0, 5)))
    np.save(path("oblong.npy"), X[:3])
    np.savez(path("two-tables.npz"), a=X, b=X)
    np.savez(path("short-y.npz"), X=X, y=Y[:5])
    np.savez(path("short-names.npz"), X=X, y=Y, names=NAMES[:3])
    np.savez(path("object-x.npz"), X=np.array({"a": 1}, dtype=object))
    np.savez(path("object-y.npz"), X=X, y=Y.astype(object))
    np.savez(path("cube-x.npz"), X=np.zeros((2, 3, 4)))
    scipy.sparse.save_npz(path("coo.npz"), SPARSE.tocoo())
    np.savez(path("half-sparse.npz"), data=np.ones(2), indices=np.array([0, 1]), format="csr")
    np.savez(path("bad-shape.npz"), data=np.ones(2), indices=np.array([0, 1]), indptr=np.array([0, 1, 2]),
             shape=np.array([2]), format="csr")
    np.savez(path("bad-indices.npz"), data=np.ones(2), indices=np.array([0, 9]), indptr=np.array([0, 1, 2]),
             shape=np.array([2, 3]), format="csr")
    np.savez(path("bad-indptr.npz"), data=np.ones(2), indices=np.array([0, 1]), indptr=np.array([0, 2]),
             shape=np.array([2, 3]), format="csr")
    np.savez(path("falling-indptr.npz"), data=np.ones(2), indices=np.array([0, 1]), indptr=np.array([0, 2, 1]),
             shape=np.array([2, 3]), format="csr")
    np.savez(path("negative-shape.npz"), data=np.ones(2), indices=np.array([0, 1]), indptr=np.array([0, 1, 2]),
             shape=np.array([2, -3]), format="csr")
    np.savez(path("real-indices.npz"), data=np.ones(2), indices=np.array([0.5, 1]), indptr=np.array([0, 1, 2]),
             shape=np.array([2, 3]), format="csr")
    np.savez(path("several-texts.npz"), X=X, site=np.array(["a", "b"] * 20), kind=Y)
    np.savez(path("uneven-sparse.npz"), data=np.ones(3), indices=np.array([0, 1]), indptr=np.array([0, 1, 2]),
             shape=np.array([2, 3]), format="csr")


def zip_archives(put, path):
    """What np.savez would not write: a member twice, one by another method, one encrypted, one that is no array."""
    for name, members, method in [("twice.npz", ["X.npy", "X.npy"], zipfile.ZIP_STORED),
                                  ("bzip2.npz", ["X.npy"], zipfile.ZIP_BZIP2)]:
        with zipfile.ZipFile(path(name), "w", method) as archive:
            for member in members:
                archive.write(path("two.npy"), member)
    with zipfile.ZipFile(path("member.npz"), "w") as archive:
        archive.writestr("X.npy", "no array")
    with open(path("two.npz"), "rb") as f:
        content = bytearray(f.read())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    put("encrypted.npz", bytes(content))


def mat5(path):
    cells = np.empty((40, 1), dtype=object)
    cells[:, 0] = Y
    names = np.empty((1, 8), dtype=object)
    names[0, :] = NAMES
    scipy.io.savemat(path("two.mat"), {"X": X, "Y": cells, "names": names})
    scipy.io.savemat(path("packed.mat"), {"X": X, "y": np.arange(40) % 2}, do_compression=True)
    scipy.io.savemat(path("sparse.mat"), {"X": SPARSE.tocsc(), "Y": np.arange(45).reshape(-1, 1) % 3})
    scipy.io.savemat(path("no-table.mat"), {"A": X, "label": Y})
    scipy.io.savemat(path("complex.mat"), {"X": X.astype(complex)})
    scipy.io.savemat(path("short-y.mat"), {"X": X, "Y": np.arange(5)})
    scipy.io.savemat(path("struct-x.mat"), {"X": {"a": 1.0}})
    scipy.io.savemat(path("empty-x.mat"), {"X": np.zeros((0, 5))})
    scipy.io.savemat(path("short-names.mat"), {"X": X, "y": np.arange(40) % 2, "names": names[:, :3]})


def mat73(path):
    """HDF5 behind a 512-byte header, arrays transposed, classes in attributes."""
    def write(name, fill):
        with h5py.File(path(name), "w", userblock_size=512) as f:
            fill(f)
        with open(path(name), "r+b") as f:
            f.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")

    def marked(dataset, name):
        dataset.attrs["MATLAB_class"] = np.bytes_(name)
        return dataset

    def dense(f):
        marked(f.create_dataset("X", data=X.T, chunks=(3, 7), compression="gzip"), "double")
        marked(f.create_dataset("Y", data=(np.arange(40.0) % 2).reshape(1, 40)), "double")

    def sparse(f):
        c = SPARSE.tocsc()
        g = marked(f.create_group("X"), "double")
        g.attrs["MATLAB_sparse"] = np.uint64(c.shape[0])
        g.create_dataset("data", data=c.data)
        g.create_dataset("ir", data=c.indices.astype(np.uint64))
        g.create_dataset("jc", data=c.indptr.astype(np.uint64))
        marked(f.create_dataset("y", data=(np.arange(45.0) % 3).reshape(1, 45)), "double")

    def no_table(f):
        marked(f.create_dataset("A", data=X.T), "double")

    def short_labels(f):
        marked(f.create_dataset("X", data=X.T), "double")
        marked(f.create_dataset("y", data=np.arange(5.0).reshape(1, 5)), "double")

    def a_vector(f):
        marked(f.create_dataset("X", data=X[:, 0]), "double")

    def wrong_names(f):
        marked(f.create_dataset("X", data=X.T), "double")
        marked(f.create_dataset("names", data=np.arange(3.0).reshape(1, 3)), "double")

    def a_struct(f):
        marked(f.create_group("X"), "struct")

    write("two73.mat", dense)
    write("sparse73.mat", sparse)
    write("no-table73.mat", no_table)
    write("short-y73.mat", short_labels)
    write("vector73.mat", a_vector)
    write("struct73.mat", a_struct)
    write("names-73.mat", wrong_names)


def h5ad(path):
    import anndata  # slow to load
    import pandas

    def annotated(matrix, labels):
        n, p = matrix.shape
        obs = pandas.DataFrame({"class": pandas.Categorical(labels), "donor": ["d%d" % (i % 4) for i in range(n)],
                                "depth": np.arange(n) * 10.0}, index=["cell%d" % i for i in range(n)])
        return anndata.AnnData(X=matrix, obs=obs, var=pandas.DataFrame(index=["gene%d" % j for j in range(p)]),
                               dtype=matrix.dtype)

    annotated(X, Y).write_h5ad(path("dense.h5ad"))
    annotated(SPARSE, SPARSE_Y).write_h5ad(path("csr.h5ad"))
    annotated(SPARSE.tocsc(), SPARSE_Y).write_h5ad(path("csc.h5ad"), compression="gzip")
    with h5py.File(path("no-x.h5ad"), "w") as f:
        f.create_group("obs")
    with h5py.File(path("vector-x.h5ad"), "w") as f:
        f["X"] = X[:, 0]
    with h5py.File(path("text-x.h5ad"), "w") as f:
        f["X"] = np.array([[b"a", b"b"]])
    with h5py.File(path("linked.h5ad"), "w") as f:
        f["X"] = h5py.ExternalLink("dense.h5ad", "/X")
    with h5py.File(path("coo.h5ad"), "w") as f:
        f.create_group("X").attrs["encoding-type"] = "coo_matrix"
    with h5py.File(path("lzf.h5ad"), "w") as f:
        f.create_dataset("X", data=np.zeros((64, 64)), compression="lzf")
    with h5py.File(path("old-obs.h5ad"), "w") as f:
        f["X"] = X
        f["obs"] = np.zeros(40, dtype=[("index", "S3"), ("class", "i4")])
    with h5py.File(path("short-obs.h5ad"), "w") as f:
        f["X"] = X
        f.create_group("obs").create_dataset("class", data=np.array([b"a", b"b"]))
    with h5py.File(path("short-var.h5ad"), "w") as f:
        f["X"] = X
        g = f.create_group("var")
        g.attrs["_index"] = "id"
        g.create_dataset("id", data=np.array([b"a", b"b"]))
    with h5py.File(path("bad-codes.h5ad"), "w") as f:
        f["X"] = X
        g = f.create_group("obs").create_group("class")
        g.create_dataset("codes", data=np.full(40, 7, dtype=np.int8))
        g.create_dataset("categories", data=np.array([b"a"]))


def damaged(put, path):
    """The first half of a file of each format, and bytes that are no file of that format."""
    for name in ["two.csv.gz", "two.npy", "two.npz", "packed.npz", "two.mat", "packed.mat", "two73.mat", "dense.h5ad"]:
        with open(path(name), "rb") as f:
            content = f.read()
        put("cut-" + name, content[:len(content) // 2])
    garbage = bytes((i * 37 + 11) % 251 + 1 for i in range(300))
    for ending in ["csv.gz", "npy", "npz", "mat", "h5ad", "svm", "arff"]:
        put("garbage." + ending, garbage)
    with open(path("two.csv.gz"), "rb") as f:
        content = f.read()
    put("tail.csv.gz", content + b"more")
    put("flipped.csv.gz", content[:-8] + bytes(4) + content[-4:])  # the checksum
    with open(path("two.npy"), "rb") as f:
        content = f.read()
    put("version9.npy", content[:6] + b"\x09\x00" + content[8:])
    put("header.npy", content[:10] + b"{'descr': 3" + content[21:])


def pictures(put, path):
    """Folders of PGM images: of two kinds, of none, of one that is too short."""
    for kind, seed in [("cat", 21), ("dog", 22)]:
        for i in range(4):
            noise = Noise(seed * 10 + i)
            values = ["%d" % max(0, min(255, round(120 + 30 * noise.number() + 40 * ((j // 6) % 2 == (kind == "cat")))))
                      for j in range(36)]
            put("faces/%s/%d.pgm" % (kind, i), "P2\n6 6\n255\n" + " ".join(values) + "\n")
    os.makedirs(path("no-images"))
    put("no-images/readme.txt", "no image\n")
    put("bad-images/a.pgm", "P5\n6 6\n255\nshort")
    put("odd-images/a.pgm", "P7\n1 1\n255\n0")
    put("dark/a.pgm", "P2\n2 2\n0\n0 0 0 0\n")
    put("cut/a.pgm", "P2\n2")
    put("empty/a.pgm", "P2\n0 2\n255\n")
    put("two-sizes/a/1.pgm", "P2\n2 2\n255\n1 2 3 4\n")
    put("two-sizes/b/2.pgm", "P2\n3 2\n255\n1 2 3 4 5 6\n")


def write_all(folder):
    def path(name):
        return os.path.join(folder, name)

    def put(name, content):
        os.makedirs(os.path.dirname(path(name)), exist_ok=True)
        with open(path(name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    shutil.copytree(os.path.join(HERE, "inputs"), folder)
    text_tables(put)
    groups_files(put)
    matrices(put, path)
    libsvm(put)
    arff(put)
    numpy_files(path)
    zip_archives(put, path)
    mat5(path)
    mat73(path)
    h5ad(path)
    damaged(put, path)
    pictures(put, path)


if __name__ == "__main__":
    import sys
    write_all(sys.argv[1])
