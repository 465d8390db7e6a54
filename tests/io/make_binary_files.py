"""Writes the files the readers of binary formats are tested on, with the programs people write them with.

usage: make_binary_files.py DIRECTORY

Beside NAME.EXT stands NAME.EXT.expected.csv: the table as the reader must see it (hexadecimal floats).
"""
import os
import struct
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")
OUT = sys.argv[1]
os.makedirs(OUT, exist_ok=True)
RNG = np.random.default_rng(7)


def path(name):
    return os.path.join(OUT, name)


def expect(name, x):
    x = np.asarray(x.todense() if hasattr(x, "todense") else x, dtype=np.float64)
    with open(path(name) + ".expected.csv", "w") as f:
        for row in x:
            f.write(",".join("nan" if np.isnan(v) else float(v).hex() for v in row) + "\n")


X = RNG.normal(size=(12, 7))
X[3, 4] = np.nan
WHOLE = RNG.integers(0, 100, size=(12, 7))
Y = np.array(["tumour", "normal", "tumour", "Müller"] * 3)
NAMES = np.array(["gene %d" % j for j in range(7)])

# --- NPY ---------------------------------------------------------------------------------------------------------
for code in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
    for order in "<>":
        a = (X if code[0] == "f" else WHOLE).astype(order + code)
        name = "%s_%s.npy" % (code, "little" if order == "<" else "big")
        np.save(path(name), a)
        expect(name, a)
np.save(path("bool.npy"), WHOLE > 50)
expect("bool.npy", WHOLE > 50)
np.save(path("fortran.npy"), np.asfortranarray(X))
expect("fortran.npy", X)
halves = np.array([0, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0x8001, 0xFC00, 0x3C00], dtype=np.uint16).view(np.float16)
np.save(path("halves.npy"), halves.reshape(3, 3))
expect("halves.npy", halves.reshape(3, 3))
for version in [(1, 0), (2, 0), (3, 0)]:
    name = "version%d.npy" % version[0]
    with open(path(name), "wb") as f:
        np.lib.format.write_array(f, X, version=version)
    expect(name, X)
LARGE = RNG.normal(size=(300, 517))
np.save(path("large_c.npy"), LARGE)
expect("large_c.npy", LARGE)
np.save(path("large_f.npy"), np.asfortranarray(LARGE))
expect("large_f.npy", LARGE)
WIDE = RNG.normal(size=(2, 70001)).astype(np.float32)
np.save(path("wide.npy"), WIDE)
expect("wide.npy", WIDE)
np.save(path("tall_f.npy"), np.asfortranarray(WIDE.T))
expect("tall_f.npy", WIDE.T)
np.save(path("vector.npy"), X[:, 0])
np.save(path("scalar.npy"), np.float64(3))
np.save(path("cube.npy"), np.zeros((2, 3, 4)))
np.save(path("complex.npy"), X.astype(complex))
np.save(path("objects.npy"), np.array([[1, "a"]], dtype=object))
np.save(path("texts.npy"), np.array([["a", "b"]]))
np.save(path("structured.npy"), np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]))
np.save(path("dates.npy"), np.zeros((2, 2), dtype="M8[ns]"))
np.save(path("no_rows.npy"), np.zeros((0, 5)))

# --- NPZ ---------------------------------------------------------------------------------------------------------
np.savez(path("stored.npz"), X=X, y=Y, names=NAMES, split=np.array(["train"] * 6 + ["test"] * 6), fold=np.arange(12),
         flag=WHOLE[:, 0] > 50, other=np.zeros((3, 3)), single=np.float64(1), thing=np.array({"a": 1}, dtype=object))
expect("stored.npz", X)
np.savez_compressed(path("deflated.npz"), X=np.asfortranarray(X.astype(np.float32)), y=np.arange(12) % 3,
                    names=NAMES.astype("S"))
expect("deflated.npz", X.astype(np.float32))
np.savez_compressed(path("large.npz"), X=LARGE)
expect("large.npz", LARGE)
np.savez(path("one_table.npz"), measurements=X, y=np.where(np.arange(12) % 2, 1.5, np.nan))
expect("one_table.npz", X)
np.savez(path("two_tables.npz"), a=X, b=X)
np.savez(path("short_y.npz"), X=X, y=Y[:5])
np.savez(path("short_names.npz"), X=X, y=Y, names=NAMES[:3])
np.savez(path("object_y.npz"), X=X, y=Y.astype(object))
np.savez(path("column_y.npz"), X=X, y=Y.reshape(-1, 1))
expect("column_y.npz", X)

np.savez_compressed(path("bomb.npz"), X=np.zeros((1000, 1000)))
with open(path("bomb.npz"), "r+b") as f:  # the directory claims 4 GB - 2 for a few kB
    content = f.read()
    f.seek(content.rindex(b"PK\x01\x02") + 24)
    f.write(b"\xfe\xff\xff\xff")

import scipy.sparse  # noqa: E402

S = scipy.sparse.random(40, 25, density=0.15, random_state=3, format="csr")
for form in ["csr", "csc"]:
    for compressed in [True, False]:
        name = "%s_%s.npz" % (form, "deflated" if compressed else "stored")
        scipy.sparse.save_npz(path(name), S.asformat(form), compressed=compressed)
        expect(name, S)
scipy.sparse.save_npz(path("coo.npz"), S.tocoo())
duplicates = scipy.sparse.csc_matrix((np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])),
                                     shape=(3, 2))
np.savez(path("duplicates.npz"), data=duplicates.data, indices=duplicates.indices, indptr=duplicates.indptr,
         shape=duplicates.shape, format="csc", y=np.array(["a", "b", "a"]))
expect("duplicates.npz", duplicates)
np.savez(path("bad_indices.npz"), data=np.ones(2), indices=np.array([0, 9]), indptr=np.array([0, 1, 2]),
         shape=np.array([2, 3]), format="csr")

# --- MAT v5 ------------------------------------------------------------------------------------------------------
import scipy.io  # noqa: E402

CELLS = np.empty((12, 1), dtype=object)
CELLS[:, 0] = Y
NAME_CELLS = np.empty((1, 7), dtype=object)
NAME_CELLS[0, :] = NAMES
for compressed in [False, True]:
    end = "_compressed.mat" if compressed else ".mat"
    scipy.io.savemat(path("cells" + end), {"X": X, "Y": CELLS, "names": NAME_CELLS, "fold": np.arange(12), "k": 3.0,
                                           "batch": np.array(["b1", "batch2", "b3"] * 4)}, do_compression=compressed)
    expect("cells" + end, X)
    scipy.io.savemat(path("numbers" + end), {"X": WHOLE.astype(np.int16), "y": np.arange(12) % 3 + 1},
                     do_compression=compressed)
    expect("numbers" + end, WHOLE)
    scipy.io.savemat(path("sparse" + end), {"X": S.tocsc(), "Y": (np.arange(40) % 2).reshape(-1, 1)},
                     do_compression=compressed)
    expect("sparse" + end, S)
scipy.io.savemat(path("single.mat"), {"X": X.astype(np.float32), "Y": Y})
expect("single.mat", X.astype(np.float32))
scipy.io.savemat(path("logical.mat"), {"X": WHOLE > 50, "y": WHOLE[:, 0] > 50})
expect("logical.mat", WHOLE > 50)
scipy.io.savemat(path("version4.mat"), {"X": X, "y": np.arange(12) % 2}, format="4")
expect("version4.mat", X)
scipy.io.savemat(path("large.mat"), {"X": LARGE}, do_compression=True)
expect("large.mat", LARGE)
scipy.io.savemat(path("no_table.mat"), {"A": X})
scipy.io.savemat(path("complex.mat"), {"X": X.astype(complex)})
scipy.io.savemat(path("short_y.mat"), {"X": X, "Y": np.arange(5)})
scipy.io.savemat(path("struct_x.mat"), {"X": {"a": 1.0}})

# --- MAT v7.3: HDF5 behind a 512-byte block, arrays transposed, classes in attributes ------------------------------
import h5py  # noqa: E402


def matlab_file(name, fill):
    with h5py.File(path(name), "w", userblock_size=512) as f:
        fill(f)
    with open(path(name), "r+b") as f:
        f.write(b"MATLAB 7.3 MAT-file, written by a test".ljust(116) + b" " * 8 + b"\x00\x02IM")


BY_MATLAB = True


def matlab_class(dataset, name):
    if not BY_MATLAB:  # as people write it with h5py
        dataset.attrs["MATLAB_class"] = np.bytes_(name)
        return dataset
    kind = h5py.h5t.C_S1.copy()  # ended by a zero, as MATLAB writes it; h5py's own texts are filled up with zeros
    kind.set_size(len(name))
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    attribute = h5py.h5a.create(dataset.id, b"MATLAB_class", kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(name.encode(), dtype="S%d" % len(name)), mtype=kind)
    return dataset


def cellstr(f, name, texts, column):
    references = []
    group = f.require_group("#refs#")
    for i, text in enumerate(texts):
        units = np.frombuffer(text.encode("utf-16-le"), dtype=np.uint16).reshape(-1, 1)
        d = matlab_class(group.create_dataset("%s%d" % (name, i), data=units), "char")
        d.attrs["MATLAB_int_decode"] = np.int32(2)
        references.append(d.ref)
    shape = (1, len(texts)) if column else (len(texts), 1)
    cell = f.create_dataset(name, shape=shape, dtype=h5py.ref_dtype)
    for i, reference in enumerate(references):
        cell[(0, i) if column else (i, 0)] = reference
    matlab_class(cell, "cell")


def dense_73(f):
    matlab_class(f.create_dataset("X", data=X.T, chunks=(3, 4), compression="gzip"), "double")
    cellstr(f, "Y", Y, True)
    cellstr(f, "names", NAMES, False)
    matlab_class(f.create_dataset("fold", data=np.arange(12.0).reshape(1, 12)), "double")


def sparse_73(f):
    c = S.tocsc()
    g = f.create_group("X")
    matlab_class(g, "double")
    g.attrs["MATLAB_sparse"] = np.uint64(c.shape[0])
    g.create_dataset("data", data=c.data)
    g.create_dataset("ir", data=c.indices.astype(np.uint64))
    g.create_dataset("jc", data=c.indptr.astype(np.uint64))
    matlab_class(f.create_dataset("y", data=(np.arange(40.0) % 2).reshape(1, 40)), "double")


matlab_file("v73.mat", dense_73)
expect("v73.mat", X)
matlab_file("v73_sparse.mat", sparse_73)
expect("v73_sparse.mat", S)

# --- the same, written by h5py with its own texts; and plain HDF5 ---------------------------------------------------
BY_MATLAB = False
matlab_file("h5py_header.mat", dense_73)
expect("h5py_header.mat", X)
matlab_file("h5py_sparse.mat", sparse_73)
expect("h5py_sparse.mat", S)


def plain_file(name, x, transposed, **others):
    with h5py.File(path(name), "w") as f:
        f["X"] = x.T if transposed else x
        for key, value in others.items():
            f[key] = value
    expect(name, x)


with h5py.File(path("h5py_marked.mat"), "w") as f:  # no header in front
    dense_73(f)
expect("h5py_marked.mat", X)
with h5py.File(path("h5py_chars.mat"), "w", userblock_size=512) as f:  # a user block that says nothing
    matlab_class(f.create_dataset("X", data=LARGE.T, chunks=(64, 100), compression="gzip"), "double")
    letters = np.array([[ord(c) for c in ("a %d" % (i % 7)).ljust(5)] for i in range(300)], dtype=np.uint16)
    matlab_class(f.create_dataset("Y", data=letters.T), "char")
expect("h5py_chars.mat", LARGE)
plain_file("h5py_rows.mat", X, False, y=Y.astype(object), names=NAMES.astype("S"))
plain_file("h5py_columns.mat", X, True, y=np.arange(12).reshape(1, 12) % 3)
plain_file("h5py_column_y.mat", X, False, y=np.arange(12).reshape(12, 1) % 3, W=np.zeros((3, 4, 5)))
plain_file("h5py_unlabelled.mat", X, False)
plain_file("h5py_square.mat", LARGE[:20, :20], False, y=np.arange(20) % 2)
plain_file("h5py_single.mat", X.astype(np.float32), False, Y=WHOLE[:, 0] > 50)
with h5py.File(path("h5py_square_marked.mat"), "w") as f:
    matlab_class(f.create_dataset("X", data=LARGE[:20, :20].T), "double")
    f["y"] = np.arange(20) % 2
expect("h5py_square_marked.mat", LARGE[:20, :20])
with h5py.File(path("h5py_short_y.mat"), "w") as f:
    f["X"] = X
    f["y"] = np.arange(5)
with h5py.File(path("h5py_no_table.mat"), "w") as f:
    f["A"] = X
with h5py.File(path("h5py_vector.mat"), "w") as f:
    f["X"] = X[:, 0]
with h5py.File(path("h5py_texts.mat"), "w") as f:
    f["X"] = np.array([[b"a", b"b"]])
with h5py.File(path("h5py_external.mat"), "w") as f:
    f["X"] = h5py.ExternalLink(path("h5py_rows.mat"), "/X")

# --- h5ad --------------------------------------------------------------------------------------------------------
import anndata  # noqa: E402
import pandas as pd  # noqa: E402


def annotated(matrix):
    n, p = matrix.shape
    obs = pd.DataFrame({
        "counts": np.arange(n) * 10,
        "score": np.linspace(0, 1, n),
        "class": pd.Categorical(["T cell", "B cell", "µ"][i % 3] if i != 4 else None for i in range(n)),
        "donor": ["donor-%d" % (i % 4) for i in range(n)],
        "good": [i % 2 == 0 for i in range(n)],
    }, index=["cell%d" % i for i in range(n)])
    obs["donor"] = obs["donor"].astype(object)
    var = pd.DataFrame(index=["gene%d" % j for j in range(p)])
    return anndata.AnnData(X=matrix, obs=obs, var=var, dtype=matrix.dtype)


for name, matrix, extra in [("dense.h5ad", X, {}), ("dense32.h5ad", LARGE.astype(np.float32), {"compression": "gzip"}),
                            ("whole.h5ad", WHOLE, {}), ("csr.h5ad", S, {}), ("csc.h5ad", S.tocsc(), {}),
                            ("csr_gzip.h5ad", S.astype(np.float32), {"compression": "gzip"})]:
    annotated(matrix).write_h5ad(path(name), **extra)
    expect(name, matrix)
with h5py.File(path("chunks.h5ad"), "w") as f:  # chunks that do not divide the matrix, bytes as names
    f.create_dataset("X", data=LARGE, chunks=(64, 100), compression="gzip", shuffle=True)
    g = f.create_group("obs")
    g.create_dataset("class", data=np.array([b"a", b"bb"] * 150))
    g = f.create_group("var")
    g.attrs["_index"] = "id"
    g.create_dataset("id", data=np.array([b"g%d" % j for j in range(517)]))
expect("chunks.h5ad", LARGE)
with h5py.File(path("old.h5ad"), "w") as f:  # anndata 0.7: categories beside the codes
    g = f.create_group("X")
    g.attrs["h5sparse_format"] = "csr"
    g.attrs["h5sparse_shape"] = np.array(S.shape)
    for part in ["data", "indices", "indptr"]:
        g.create_dataset(part, data=getattr(S, part))
    g = f.create_group("obs")
    g.attrs["_index"] = "index"
    g.attrs["column-order"] = np.array(["kind"], dtype=h5py.string_dtype())
    g.create_dataset("index", data=np.array([b"c%d" % i for i in range(40)]))
    codes = np.arange(40, dtype=np.int8) % 2
    codes[5] = -1
    d = g.create_dataset("kind", data=codes)
    c = g.create_group("__categories").create_dataset("kind", data=np.array(["x", "y"], dtype=object),
                                                      dtype=h5py.string_dtype())
    d.attrs["categories"] = c.ref
expect("old.h5ad", S)
with h5py.File(path("absurd.h5ad"), "w") as f:  # 10^14 values in a file of a few kB: no chunk was ever written
    f.create_dataset("X", shape=(10**7, 10**7), chunks=(100, 100), dtype="f8", compression="gzip")
with h5py.File(path("absurd_sparse.h5ad"), "w") as f:
    g = f.create_group("X")
    g.attrs["encoding-type"] = "csr_matrix"
    g.attrs["shape"] = np.array([2, 2**31 - 5])
    g.create_dataset("data", data=np.ones(2))
    g.create_dataset("indices", data=np.array([0, 1]))
    g.create_dataset("indptr", data=np.array([0, 1, 2]))
with h5py.File(path("compact.h5ad"), "w") as f:  # of 1100 rows, but its header holds the values of 11
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(f.id, b"X", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((11, 13)), layout).write(
        h5py.h5s.ALL, h5py.h5s.ALL, np.ones((11, 13)))
with open(path("compact.h5ad"), "r+b") as f:
    content = f.read().replace(struct.pack("<QQ", 11, 13), struct.pack("<QQ", 1100, 13))
    f.seek(0)
    f.write(content)
with h5py.File(path("lzf.h5ad"), "w") as f:  # a filter that only h5py has
    f.create_dataset("X", data=LARGE, compression="lzf")
with h5py.File(path("unmarked.mat"), "w", userblock_size=512) as f:
    f["X"] = X
with open(path("unmarked.mat"), "r+b") as f:
    f.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
expect("unmarked.mat", X.T)  # nothing but the header says whose order it is
with h5py.File(path("no_x.h5ad"), "w") as f:
    f.create_group("obs")
with h5py.File(path("external.h5ad"), "w") as f:
    f["X"] = h5py.ExternalLink(path("dense.h5ad"), "/X")
with h5py.File(path("bad_codes.h5ad"), "w") as f:
    f.create_dataset("X", data=X)
    g = f.create_group("obs").create_group("class")
    g.create_dataset("codes", data=np.full(12, 7, dtype=np.int8))
    g.create_dataset("categories", data=np.array([b"a"]))



# --- 10x: features x cells in compressed columns, as .h5 and as a folder -------------------------------------------
def tenx(name, x, group="matrix", **parts):
    """`x`: cells x features."""
    t = scipy.sparse.csr_matrix(x)
    with h5py.File(name, "w") as f:
        g = f.create_group(group)
        for part in ["data", "indices", "indptr"]:
            g.create_dataset(part, data=getattr(t, part))
        g.create_dataset("shape", data=np.array([t.shape[1], t.shape[0]], dtype=np.int32))
        g.create_dataset("barcodes", data=np.array([b"AAC%d-1" % i for i in range(t.shape[0])]))
        for part, values in parts.items():
            where = g
            if part.startswith("features_"):
                where, part = g.require_group("features"), part[9:]
            where.create_dataset(part, data=np.array(values, dtype="S"))


SYMBOLS = ["S%d" % (j // 2 if j < 4 else j) for j in range(S.shape[1])]
GENES = ["ENSG%d" % j for j in range(S.shape[1])]
tenx(path("v3.h5"), S, features_id=GENES, features_name=SYMBOLS, features_feature_type=["Gene Expression"] * S.shape[1])
expect("v3.h5", S)
tenx(path("v2.h5"), S, group="GRCh38", genes=GENES, gene_names=SYMBOLS)
expect("v2.h5", S)
tenx(path("short_names.h5"), S, features_id=GENES[1:], features_name=SYMBOLS[1:])
with h5py.File(path("other.h5"), "w") as f:
    f["X"] = X
for folder, zipped in [("tenx", ".gz"), ("tenx_plain", "")]:
    import gzip
    os.makedirs(path(folder), exist_ok=True)
    scipy.io.mmwrite(os.path.join(path(folder), "matrix.mtx"), scipy.sparse.coo_matrix(S.T), precision=17)
    with open(os.path.join(path(folder), "features.tsv" if zipped else "genes.tsv"), "w") as f:
        f.writelines("%s\t%s\tGene Expression\n" % line for line in zip(GENES, SYMBOLS))
    with open(os.path.join(path(folder), "barcodes.tsv"), "w") as f:
        f.writelines("AAC%d-1\n" % i for i in range(S.shape[0]))
    for name in os.listdir(path(folder)) if zipped else []:
        if not name.endswith(".gz"):
            with open(os.path.join(path(folder), name), "rb") as f, \
                    gzip.open(os.path.join(path(folder), name + ".gz"), "wb") as g:
                g.write(f.read())
            os.remove(os.path.join(path(folder), name))
expect("tenx", S)

# --- seeds for fuzzing: as small as the formats allow --------------------------------------------------------------
if len(sys.argv) > 2:
    SEEDS = sys.argv[2]
    tiny = np.array([[1.5, 2], [3, 4], [5, 6]])

    def seed(target, name):
        os.makedirs(os.path.join(SEEDS, target), exist_ok=True)
        return os.path.join(SEEDS, target, name)

    np.save(seed("npy", "c.npy"), tiny)
    np.save(seed("npy", "fortran_big.npy"), np.asfortranarray(tiny.astype(">f4")))
    np.save(seed("npy", "half.npy"), tiny.astype("f2"))
    np.save(seed("npy", "bool.npy"), tiny > 2)
    with open(seed("npy", "v2.npy"), "wb") as f:
        np.lib.format.write_array(f, tiny.astype("u2"), version=(2, 0))
    np.savez(seed("npz", "stored.npz"), X=tiny, y=np.array(["a", "b", "a"]), names=np.array(["p", "q"]))
    np.savez_compressed(seed("npz", "deflated.npz"), X=tiny, y=np.arange(3), extra=np.array([b"u", b"v", b"w"]))
    scipy.sparse.save_npz(seed("npz", "csr.npz"), scipy.sparse.csr_matrix(tiny))
    scipy.sparse.save_npz(seed("npz", "csc.npz"), scipy.sparse.csc_matrix(tiny), compressed=False)
    c3 = np.empty((3, 1), dtype=object)
    c3[:, 0] = ["a", "b", "a"]
    for compressed in [False, True]:
        end = "_z.mat" if compressed else ".mat"
        scipy.io.savemat(seed("mat", "cells" + end), {"X": tiny, "Y": c3}, do_compression=compressed)
        scipy.io.savemat(seed("mat", "sparse" + end), {"X": scipy.sparse.csc_matrix(tiny), "y": np.arange(3.0)},
                         do_compression=compressed)
    scipy.io.savemat(seed("mat", "v4.mat"), {"X": tiny, "y": np.arange(3.0)}, format="4")
    os.makedirs(os.path.join(SEEDS, "tenx_h5"), exist_ok=True)
    tenx(seed("tenx_h5", "v3.h5"), tiny, features_id=["e1", "e2"], features_name=["p", "p"])
    tenx(seed("tenx_h5", "v2.h5"), tiny, group="g", genes=["e1", "e2"], gene_names=["p", "q"])
    for name, sparse in [("dense.h5ad", False), ("csr.h5ad", True)]:
        with h5py.File(seed("h5ad", name), "w", libver="latest") as f:
            if sparse:
                t = scipy.sparse.csr_matrix(tiny)
                g = f.create_group("X")
                g.attrs["encoding-type"] = "csr_matrix"
                g.attrs["shape"] = np.array(t.shape)
                for part in ["data", "indices", "indptr"]:
                    g.create_dataset(part, data=getattr(t, part))
            else:
                f.create_dataset("X", data=tiny, chunks=(2, 2), compression="gzip")
            g = f.create_group("obs")
            c = g.create_group("class")
            c.create_dataset("codes", data=np.array([0, 1, 0], dtype=np.int8))
            c.create_dataset("categories", data=np.array([b"a", b"b"]))
            g.create_dataset("n", data=np.arange(3))
            v = f.create_group("var")
            v.attrs["_index"] = "g"
            v.create_dataset("g", data=np.array([b"p", b"q"]))
