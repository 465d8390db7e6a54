"""Holds the program to its memory limit, format by format.

usage: limits.py PROGRAM [NAME...]

Files that are small on disk and large in memory are read under --memory-limit: the program must refuse them in
words, and the peak of its resident memory, as the system counts it, may be the limit and a tenth. Ordinary tables
must be read under a limit that leaves little more than their own size. Under a limit on the address space (ulimit -v)
the program must refuse or work, and come to an end.
"""
import gzip
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

MEGABYTE = 1_000_000
LIMIT = 150 * MEGABYTE
PATIENCE_S = 60.0  # far beyond what any case takes: only a run that never ends meets it


# --- files
def repeated(head, member, times):
    """A gzip file that says `member` again and again: members in a row are one stream."""
    return gzip.compress(head, 9) + gzip.compress(member, 9) * times


def write(name, content):
    with open(name, "wb") as file:
        file.write(content)


def make_texts():
    write("wide.csv.gz", repeated(b"", b"1,2," * (1 << 18), 1000))
    write("wide.tsv.gz", repeated(b"", b"1\t2\t" * (1 << 18), 1000))
    write("field.csv.gz", repeated(b"a,b\n", b"x" * (1 << 20), 1000))
    write("quoted.csv.gz", repeated(b'a,b\n"', b"x" * (1 << 20), 1000))
    write("twice.csv.gz", gzip.compress(repeated(b"", b"1,2," * (1 << 18), 1000), 9))
    write("names.csv.gz", repeated(b"", b"abc," * 350_000, 150))
    write("long_names.csv.gz", repeated(b"", b"a name of some length," * 50_000, 150))
    write("rows.csv.gz", repeated(b"a,b,c,d\n", b"1,2,3,4\n" * (1 << 17), 60))
    write("wide_rows.csv.gz", repeated(b",".join(b"v%d" % j for j in range(50_000)) + b"\n",
                                       b",".join(b"%d" % (j % 9) for j in range(50_000)) + b"\n", 600))
    write("labels.csv.gz", repeated(b"a,class\n", b"1," + b"x" * (1 << 20) + b"\n", 400))
    write("short_labels.csv.gz", repeated(b"a,class\n", b"1,x\n2,y\n" * (1 << 16), 60))
    write("latin.csv.gz", repeated(b"a,class\n1,", b"\xe9" * (1 << 20), 40) + gzip.compress(b"\n2,b\n"))
    write("line.svm.gz", repeated(b"1 ", b"1:1 " * (1 << 18), 1000))
    write("comment.svm.gz", repeated(b"1 1:1 #", b"x" * (1 << 20), 1000))
    write("index.svm", b"1 1:1\n2 1999999999:1\n")
    write("rows.svm.gz", repeated(b"", b"1 1:1 7:2\n2 3:5\n" * (1 << 16), 100))
    write("entries.svm.gz", repeated(b"", b"1 " + b" ".join(b"%d:1" % j for j in range(1, 100_000)) + b"\n", 200))
    write("list.arff.gz", repeated(b"@attribute a {", b"some value," * (1 << 17), 300))
    write("values.arff.gz", repeated(b"", b"".join(
        b"@attribute v%d {%s}\n" % (a, b",".join(b"%s%d" % (b"value of a nominal attribute ", j)
                                                for j in range(2000))) for a in range(4)), 400))
    write("attributes.arff.gz", repeated(b"", b"@attribute a numeric\n" * (1 << 15), 100))
    write("rows.arff.gz", repeated(b"@attribute a numeric\n@attribute b {x,y}\n@data\n", b"1,x\n2,y\n" * (1 << 16), 60))
    write("sparse.arff.gz", repeated(b"@attribute a numeric\n@attribute b {x,y}\n@data\n", b"{0 1,1 y}\n" * (1 << 16), 60))
    write("strings.arff.gz", repeated(b"@attribute a numeric\n@attribute b string\n@data\n",
                                      b"1,'" + b"x" * (1 << 20) + b"'\n", 400))
    write("matrix.csv.gz", repeated(b"", b"1,2," * (1 << 18), 1000))
    row = b",".join(b"%d" % (j * j % 97) for j in range(250))
    write("table.csv", b",".join(b"v%d" % j for j in range(250)) + b",class\n" +
          b"".join(b"%d%s,%d\n" % (i % 7, row, i % 2) for i in range(20_000)))


def make_gene_tables():
    tabs, head = b"\ts" * (1 << 18), b'!Sample_geo_accession\t"a"\t"b"\n'
    market = b"%%MatrixMarket matrix coordinate real general\n"
    write("header.gct.gz", repeated(b"#1.2\n1\t7000000\nName\tDescription", tabs, 27) + gzip.compress(b"\n"))
    write("rows.gct.gz", repeated(b"#1.2\n100000000\t2\nN\tD\ta\tb\n", b"g\td\t1\t2\n" * (1 << 16), 150))
    write("names.gct.gz", repeated(b"#1.2\n1000\t1\nN\tD\ta\n", b"x" * (1 << 20) + b"\td\t1\n", 300))
    write("twice.gct.gz", gzip.compress(repeated(b"", b"1\t2\t" * (1 << 18), 500), 9))
    write("fields_series_matrix.txt.gz", repeated(head + b"!Sample_title", tabs, 27) + gzip.compress(b"\n"))
    write("rows_series_matrix.txt.gz", repeated(head + b'!series_matrix_table_begin\n"ID_REF"\t"a"\t"b"\n',
                                                b"g\t1\t2\n" * (1 << 17), 150))
    wide = b"".join(b'!Sample_characteristics_ch1\t"k%d: v"' % i + b'\t"b"' * 30_000 + b"\n" for i in range(20))
    write("wide_series_matrix.txt.gz",
          gzip.compress(head, 1) + b"".join(gzip.compress(wide.replace(b"k", b"k%d" % j), 1) for j in range(12)))
    write("sizes.mtx", market + b"2 1000000000 1\n1 1 1\n")
    write("entries.mtx.gz", repeated(market + b"1000000 1000 100000000\n", b"1 1 1\n" * (1 << 17), 150))
    write("lines.txt.gz", repeated(b"", b"a\tb\n" * (1 << 17), 150))
    for folder, features in (("names", repeated(b"", b"id\tname\tGene\n" * (1 << 16), 200)),
                             ("tabs", repeated(b"x", b"\t" * (1 << 20), 12))):
        os.mkdir(folder)
        write(folder + "/features.tsv.gz", features)
        write(folder + "/barcodes.tsv", b"b1\nb2\n")
        write(folder + "/matrix.mtx", market + b"3 2 1\n1 1 1\n")
    write("semicolons.txt.gz", repeated(b"", b"1;2;" * (1 << 18), 500))
    write("spaces.txt.gz", repeated(b"a b\n1", b" " * (1 << 20), 500))
    write("genes.csv.gz", repeated(b"g,a,b\n", b"g,1,2\n" * (1 << 17), 60))


def make_beside():
    write("groups.csv.gz", repeated(b"feature,group\n", b"V1,a\n" * (1 << 17), 100))
    write("list.txt", b"a\n" * 2_500_000)
    for name, schema in (("result.json", b"selection"), ("state.json", b"checkpoint")):
        write(name, b'{"schema":"subspectra.%s/1","a":[' % schema + b"1," * 8_000_000 + b"1]}")
    row = [b",".join(b"" if (i + j) % 13 == 0 else b"%d" % ((i * i + j * 31) % 97) for j in range(250)) + b",%d\n" % (i % 2)
           for i in range(26)]
    write("gaps.csv", b",".join(b"v%d" % j for j in range(250)) + b",class\n" + b"".join(row) * 770)
    row = [b",".join(b"%d" % ((i * i + j * 31) % 97) for j in range(250)) + b",%d\n" % (i % 2) for i in range(26)]
    write("varied.csv", b",".join(b"v%d" % j for j in range(250)) + b",class\n" + b"".join(row) * 770)


def make_arrays():
    import numpy as np
    import scipy.io
    import scipy.sparse

    with open("claim.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 1 << 20)})
    with open("large.npy", "wb") as file:  # a hole on the disk
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (50_000, 10_000)})
        file.truncate(file.tell() + 8 * 500_000_000)
    # Tables larger than the limit that are read in blocks; a fileset as PLINK packs it, two bits a genotype.
    random = np.random.default_rng(2)
    for order in "CF":
        wide = np.lib.format.open_memmap("wide_%s.npy" % order, "w+", "f4", (400, 100_000), order == "F")
        for first in range(0, 100_000, 10_000):
            wide[:, first:first + 10_000] = random.normal(size=(400, 10_000))
        wide[::2, 17] += 5
    with open("labels.csv", "w") as file:
        file.write("id,class\n" + "".join("%d,%d\n" % (i, i % 2) for i in range(400)))
    with open("set.bed", "wb") as file:
        file.write(b"\x6c\x1b\x01")
        for _ in range(10):
            file.write(random.integers(0, 256, 25_000 * 400, "u1").tobytes())  # 1,600 samples
    with open("set.bim", "w") as file:
        file.writelines("1\tv%d\t0\t%d\tA\tC\n" % (j, j + 1) for j in range(250_000))
    with open("set.fam", "w") as file:
        file.writelines("f%d i%d 0 0 1 %d\n" % (i, i, 1 + i % 2) for i in range(1600))
    np.save("rows.npy", random.normal(size=(3600, 40)))  # rows x rows: 104 MB
    np.savez_compressed("zeros.npz", X=np.zeros((3000, 10_000)), y=np.zeros(3000))
    np.savez_compressed("labels.npz", X=np.zeros((250_000, 1)), y=np.full(250_000, "x" * 100))
    scipy.sparse.save_npz("columns.npz", scipy.sparse.csr_matrix(([1.0], ([3], [5])), shape=(10, 16_000_000)))
    np.savez_compressed("pointers.npz", data=np.ones(1), indices=np.zeros(1, "i4"), shape=np.array([30_000_000, 1]),
                        format="csr", indptr=np.r_[np.zeros(30_000_000, "i4"), 1].astype("i4"))
    scipy.io.savemat("zeros.mat", {"X": np.zeros((10_000, 5000), "u1")}, do_compression=True)
    scipy.io.savemat("chars.mat", {"X": np.zeros((2, 2)), "y": np.array(["x" * 70_000_000, "y" * 70_000_000])},
                     do_compression=True)
    x = np.random.default_rng(1).normal(size=(20_000, 250)).round(1)
    y = np.arange(20_000) % 2
    np.savez("table.npz", X=x, y=y)
    scipy.io.savemat("table.mat", {"X": x, "y": y})


def make_hdf5():
    import h5py
    import numpy as np

    def text(size):
        return h5py.string_dtype("ascii", size)

    with h5py.File("zeros.h5ad", "w") as file:
        file.create_dataset("X", (3000, 10_000), "f8", chunks=(100, 10_000), compression="gzip", data=np.zeros((3000, 10_000)))
    with h5py.File("chunk.h5ad", "w") as file:
        x = file.create_dataset("X", (10, 10), "f8", chunks=(2500, 10_000), maxshape=(None, None), compression="gzip",
                                compression_opts=1)
        x[:] = np.ones((10, 10))
    with h5py.File("texts.h5ad", "w") as file:
        file["X"] = np.zeros((200_000, 1))
        file.create_dataset("obs/a", (200_000,), text(1000), chunks=(1000,), compression="gzip",
                            data=np.full(200_000, b"x" * 999))
    with h5py.File("table.h5ad", "w") as file:
        file.create_dataset("X", data=np.random.default_rng(1).normal(size=(20_000, 250)).round(1), chunks=(1000, 250),
                            compression="gzip", compression_opts=1)
        file["obs/class"] = np.array([b"a", b"b"] * 10_000)
    with h5py.File("table73.mat", "w") as file:
        file["X"] = np.random.default_rng(1).normal(size=(250, 20_000))
        file["y"] = np.arange(20_000) % 2.0


# --- runs
def resident_of(process):
    try:
        with open("/proc/%d/statm" % process) as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def children_of(process):
    try:
        with open("/proc/%d/task/%d/children" % (process, process)) as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


class Run:
    """`peak`: of the program as getrusage has it, or of the program and its decoder together where a look at both
    from time to time saw more. (The maximum of a child begins with what its parent holds: this process stays small.)"""

    def __init__(self, words, address_space=None, standard_input=os.devnull):
        def limited():
            if address_space is not None:
                resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

        with open(standard_input, "rb") as source, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(words, stdin=source, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limited)
            deadline = time.monotonic() + PATIENCE_S
            together = 0
            self.ended = True
            while True:
                done, status, usage = os.wait4(process.pid, os.WNOHANG)
                if done:
                    break
                decoders = children_of(process.pid)
                if decoders:
                    together = max(together, resident_of(process.pid) + sum(map(resident_of, decoders)))
                if time.monotonic() > deadline:
                    self.ended = False
                    process.kill()
                time.sleep(0.003)
            process.returncode = self.code = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            self.words = errors.read().decode(errors="replace")
        self.peak = max(usage.ru_maxrss * 1024, together)


failures = []
program = ""


def require(name, holds, run, what):
    if not holds:
        failures.append(name)
        print("FAILED %s: %s (exit code %s, peak %.0f MB)\n    %s" %
              (name, what, run.code, run.peak / MEGABYTE, run.words.strip()[:600]))


def refused(name, arguments, words, codes=(1, 3), limit=LIMIT, **settings):
    run = Run([program] + arguments + ["--memory-limit", str(limit)], **settings)
    print("%-20s exit code %d, peak %5.1f MB of %5.1f" % (name, run.code, run.peak / MEGABYTE, limit / MEGABYTE))
    require(name, run.ended, run, "it never ended")
    require(name, run.code in codes, run, "it must end with %s" % " or ".join(map(str, codes)))
    require(name, words in run.words, run, "'%s' is not said" % words)
    require(name, run.words.count("\n") == 1 and len(run.words) < 3000, run, "one line is wanted")
    require(name, run.peak <= 1.1 * limit, run, "above the limit")


def read(name, arguments, limit):
    run = Run([program] + arguments + ["--memory-limit", str(limit)])
    print("%-20s exit code %d, peak %5.1f MB of %5.1f" % (name, run.code, run.peak / MEGABYTE, limit / MEGABYTE))
    require(name, run.code == 0, run, "it must be read")
    require(name, run.peak <= 1.1 * limit, run, "above the limit")


def under_address_space(name, arguments, kilobytes):
    run = Run([program] + arguments, address_space=1024 * kilobytes)
    print("%-20s exit code %d under ulimit -v %d" % (name, run.code, kilobytes))
    require(name, run.ended, run, "it never ended")
    require(name, run.code in (0, 1, 3), run, "it must work or refuse")
    require(name, run.code == 0 or "memory" in run.words or "address space" in run.words, run, "it must say why")


def check_texts():
    quick = ["-k", "1", "--method", "fisher"]
    for name, words in [("wide.csv.gz", "the first lines of"), ("wide.tsv.gz", "the first lines of"),
                        ("field.csv.gz", "a field of"), ("quoted.csv.gz", "a field of"),
                        ("names.csv.gz", "the first lines of"), ("long_names.csv.gz", "the first lines of"),
                        ("rows.csv.gz", "the table in"), ("wide_rows.csv.gz", "the table in"),
                        ("labels.csv.gz", "the texts in"), ("short_labels.csv.gz", "needs more than"),
                        ("latin.csv.gz", "the names and labels of"),
                        ("line.svm.gz", "a line of"), ("comment.svm.gz", "a line of"), ("rows.svm.gz", "needs about"),
                        ("entries.svm.gz", "sparse table in"), ("list.arff.gz", "a line of"),
                        ("values.arff.gz", "the attributes of"), ("attributes.arff.gz", "the attributes of"),
                        ("rows.arff.gz", "needs more than"), ("sparse.arff.gz", "needs about"),
                        ("strings.arff.gz", "the texts in")]:
        refused(name, ["select", name] + quick, words, codes=(1,))
    refused("twice.csv.gz", ["select", "twice.csv.gz"] + quick, "zero byte", codes=(3,))
    refused("index.svm", ["select", "index.svm", "--features", "2000000000"] + quick, "needs 8.0 GB", codes=(1,))
    refused("- (wide.csv.gz)", ["select", "-"] + quick, "the first lines of standard input", codes=(1,),
            standard_input="wide.csv.gz")
    refused("matrix.csv.gz", ["select", "--covariance", "matrix.csv.gz", "-k", "1"], "the first lines of", codes=(1,))
    refused("too little", ["select", "table.csv"] + quick, "--memory-limit 20.0 MB: the program and its libraries",
            codes=(1,), limit=20 * MEGABYTE)
    read("table.csv", ["select", "table.csv"] + quick, 75 * MEGABYTE)  # the table itself: 40 MB


def check_gene_tables():
    quick = ["-k", "1", "--method", "fisher"]
    for name, words in [("header.gct.gz", "the names in"), ("rows.gct.gz", "the names in"),
                        ("names.gct.gz", "the names in"), ("fields_series_matrix.txt.gz", "says of its samples"),
                        ("rows_series_matrix.txt.gz", "the names in"), ("wide_series_matrix.txt.gz", "says of its samples"),
                        ("entries.mtx.gz", "the entries of"), ("names", "the names in"), ("tabs", "the names in"),
                        ("semicolons.txt.gz", "the first lines of"), ("spaces.txt.gz", "a field of")]:
        refused(name, ["select", name] + quick, words, codes=(1,))
    refused("twice.gct.gz", ["select", "twice.gct.gz"] + quick, "zero byte", codes=(3,))
    refused("sizes.mtx", ["select", "sizes.mtx"] + quick, "the line of sizes", codes=(3,))
    refused("genes.csv.gz", ["select", "genes.csv.gz", "--transpose", "--target", "none", "-k", "1"], "the names in",
            codes=(1,))
    for name in ("lines.txt.gz", "fields_series_matrix.txt.gz", "wide_series_matrix.txt.gz"):
        words = "the labels in" if name == "lines.txt.gz" else "says of its samples"
        refused("--labels " + name, ["select", "sonar", "--labels", name] + quick, words, codes=(1,))


def check_prepared_copies():
    """The table itself is 40 MB: what is prepared stands beside it."""
    bent = ["varied.csv", "-k", "200", "--method", "fisher", "--transform", "asinh", "--standardize"]
    for command in (["select"], ["fit", "-o", "bent.json"], ["cluster"]):
        words = command[:1] + bent + command[1:]
        if command == ["cluster"]:
            words = ["cluster", "varied.csv", "--standardize"]
        refused("prepared: " + command[0], words, "the table as it is prepared", codes=(1,), limit=85 * MEGABYTE)
    refused("imputed", ["select", "gaps.csv", "--missing", "median", "-k", "200", "--method", "fisher"],
            "the table as it is prepared", codes=(1,), limit=85 * MEGABYTE)
    read("prepared", ["select"] + bent, 125 * MEGABYTE)
    folds = ["evaluate", "varied.csv", "-k", "2", "--method", "fisher", "--standardize", "--cv", "3", "--threads"]
    refused("folds", folds + ["2"], "the table as it is prepared", codes=(1,), limit=85 * MEGABYTE)
    read("folds", folds + ["2"], 130 * MEGABYTE)


def check_predictions():
    trained = Run([program, "fit", "varied.csv", "--method", "fisher", "-k", "200", "-o", "model.json", "--quiet"])
    require("model.json", trained.code == 0, trained, "a model is needed")
    refused("predict", ["predict", "model.json", "varied.csv"], "predicting 20020 rows by 200 features", codes=(1,), limit=85 * MEGABYTE)
    refused("predict, rows", ["predict", "model.json", "wide.csv.gz"], "the first lines of", codes=(1,))
    refused("predict, model", ["predict", "result.json", "varied.csv"], "reading result.json", codes=(1,))
    read("predict", ["predict", "model.json", "varied.csv", "--quiet"], 180 * MEGABYTE)


def check_beside():
    quick = ["-k", "1", "--method", "fisher"]
    refused("--groups", ["select", "sonar", "--groups", "groups.csv.gz", "-k", "1"], "the groups in", codes=(1,))
    refused("--exclude", ["select", "sonar", "--exclude", "@list.txt"] + quick, "lines; give patterns", codes=(2,))
    refused("--na", ["select", "sonar", "--na", "@list.txt"] + quick, "lines; give patterns", codes=(2,))
    refused("verify", ["verify", "result.json", "sonar"], "reading result.json", codes=(1,))
    refused("--refit", ["select", "sonar", "--refit", "result.json"], "reading result.json", codes=(1,))
    refused("--resume", ["select", "sonar", "--method", "eslda", "-k", "2", "--resume", "state.json"],
            "reading state.json", codes=(1,))
    refused("--write-table", ["select", "gaps.csv", "--missing", "mean", "-k", "200", "--method", "fisher", "--quiet",
                              "--write-table", "chosen.npz"], "writing 20020 x 200 numbers", codes=(1,), limit=120 * MEGABYTE)
    refused("indicators", ["select", "gaps.csv", "--missing", "indicator"] + quick, "may be used", codes=(1,),
            limit=100 * MEGABYTE)
    check_prepared_copies()
    check_predictions()


def check_arrays():
    quick = ["-k", "1", "--method", "fisher"]
    refused("claim.npy", ["select", "claim.npy"] + quick, "damaged", codes=(3,))
    refused("large.npy", ["select", "large.npy", "--method", "svm-rfe", "-k", "1", "--target", "none"], "label", codes=(3,))
    for order in "CF":  # 160 MB as they stand, 320 MB as doubles
        table = ["select", "wide_%s.npy" % order, "--labels", "labels.csv"]
        read("wide_%s.npy, fisher" % order, table + quick + ["--ridge", "rel:0.01"], 120 * MEGABYTE)
        read("wide_%s.npy, forward" % order, table + ["-k", "5", "--method", "forward-lda", "--ridge", "rel:0.01"],
             120 * MEGABYTE)
        refused("wide_%s.npy, rfe" % order, table + ["-k", "1", "--method", "svm-rfe"], "needs",
                codes=(1,), limit=120 * MEGABYTE)
    # 100 MB packed, 3.2 GB as doubles; the names take 20 MB
    read("set.bed, fisher", ["select", "set.bed"] + quick + ["--ridge", "rel:0.01"], 130 * MEGABYTE)
    read("set.bed, forward", ["select", "set.bed", "-k", "5", "--method", "forward-lda", "--ridge", "rel:0.01"],
         160 * MEGABYTE)
    read("set.bed, gloss", ["select", "set.bed", "--method", "gloss", "--lambda", "auto", "--ridge", "rel:0.01"],
         170 * MEGABYTE)
    refused("set.bed, rfe", ["select", "set.bed", "-k", "1", "--method", "svm-rfe"], "needs",
            codes=(1,))
    clusters = ["cluster", "rows.npy", "--method", "qalpha"]
    refused("rows.npy", clusters, "the affinity matrix of Q-alpha", codes=(1,), limit=80 * MEGABYTE)
    read("rows.npy", clusters, 150 * MEGABYTE)
    refused("zeros.npz", ["select", "zeros.npz"] + quick, "needs 240.0 MB", codes=(1,))
    refused("labels.npz", ["select", "labels.npz"] + quick, "may be used", codes=(1,), limit=45 * MEGABYTE)
    refused("columns.npz", ["select", "columns.npz"] + quick, "may be used", codes=(1,))
    refused("pointers.npz", ["select", "pointers.npz"] + quick, "pointers needs", codes=(1,))
    refused("zeros.mat", ["select", "zeros.mat"] + quick, "needs 400.0 MB", codes=(1,))
    refused("chars.mat", ["select", "chars.mat"] + quick, "may be used", codes=(1, 3))
    read("table.npz", ["select", "table.npz"] + quick, 75 * MEGABYTE)
    read("table.mat", ["select", "table.mat"] + quick, 150 * MEGABYTE)  # its decoder holds X too


def check_hdf5():
    quick = ["-k", "1", "--method", "fisher"]
    refused("zeros.h5ad", ["select", "zeros.h5ad"] + quick, "needs 240.0 MB", codes=(1,))
    refused("chunk.h5ad", ["select", "chunk.h5ad"] + quick, "a chunk of the array needs", codes=(3,))
    refused("texts.h5ad", ["select", "texts.h5ad"] + quick, "more memory than may be used", codes=(3,))
    read("table.h5ad", ["select", "table.h5ad"] + quick, 120 * MEGABYTE)
    read("table73.mat", ["select", "table73.mat"] + quick, 120 * MEGABYTE)


def check_address_space():
    for kilobytes in (60_000, 100_000, 200_000, 400_000, 1_000_000):
        under_address_space("sonar", ["select", "sonar", "-k", "3"], kilobytes)
        under_address_space("gp, four threads", ["evaluate", "sonar", "-k", "3", "--cv", "2", "--threads", "4"], kilobytes)
    for _ in range(20):  # where there is room for some buffers of BLAS, but not for one a thread
        under_address_space("four threads", ["evaluate", "sonar", "-k", "3", "--cv", "2", "--threads", "4"], 400_000)
    for threads in ("16", "64"):  # whose stacks and heaps do not fit
        for kilobytes in (200_000, 400_000, 1_000_000):
            for _ in range(5):
                under_address_space(threads + " threads", ["select", "sonar", "-k", "1", "--threads", threads], kilobytes)
    under_address_space("a wide line", ["select", "wide.csv.gz", "-k", "1"], 150_000)
    if os.path.exists("table.h5ad"):
        under_address_space("h5ad", ["select", "table.h5ad", "-k", "1", "--method", "fisher"], 100_000)
        under_address_space("h5ad", ["select", "table.h5ad", "-k", "1", "--method", "fisher"], 300_000)


PARTS = {"texts": (make_texts, check_texts), "gene tables": (make_gene_tables, check_gene_tables),
         "beside": (make_beside, check_beside), "arrays": (make_arrays, check_arrays), "hdf5": (make_hdf5, check_hdf5),
         "address space": (None, check_address_space)}


def main():
    global program
    if sys.argv[1] == "make":  # in a process of its own, which may grow
        PARTS[sys.argv[2]][0]()
        return 0
    program = os.path.abspath(sys.argv[1])
    script = os.path.abspath(__file__)
    wanted = sys.argv[2:] or list(PARTS)
    folder = tempfile.mkdtemp(prefix="subspectra-memory-")
    try:
        os.chdir(folder)
        for name, (make, check) in PARTS.items():
            if name not in wanted and name != "texts":
                continue
            if make is not None and subprocess.run([sys.executable, script, "make", name]).returncode != 0:
                print("skipped %s: its files cannot be made here" % name)
                continue
            if name in wanted:
                check()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
