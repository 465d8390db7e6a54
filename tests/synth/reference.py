"""The synthetic problems once more, in Python and from their description alone: generator, distributions, tables.

reference.py brownian ROWS FEATURES SEED FILE.csv
reference.py fbm|gg N SEED A.npy B.npy
reference.py weston-linear|weston-nonlinear|clusters|sessions|bendor SEED FILE.csv, with the problem's defaults
Exits with 0 if the files agree, 77 where there is no NumPy.
"""
import math
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

MASK = (1 << 64) - 1
FIRST_STREAM = 1 << 41


def split_mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    z = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return x, z ^ (z >> 31)


class Random:
    def __init__(self, seed, stream):
        x = seed ^ split_mix(stream)[1]
        self.s = []
        for _ in range(4):
            x, word = split_mix(x)
            self.s.append(word)
        self.spare = None

    def next(self):
        def rotl(value, k):
            return ((value << k) | (value >> (64 - k))) & MASK

        s = self.s
        result = (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        return result

    def uniform(self):
        return (self.next() >> 11) / (1 << 53)

    def coin(self):
        return self.next() >> 63  # below(2): nothing is rejected for a power of two

    def below(self, bound):
        while True:
            product = self.next() * bound
            if product & MASK >= (1 << 64) % bound:
                return product >> 64

    def shuffle(self, items):
        for i in range(len(items), 1, -1):
            j = self.below(i)
            items[i - 1], items[j] = items[j], items[i - 1]

    def normal(self):
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        while True:
            u, v = 2 * self.uniform() - 1, 2 * self.uniform() - 1
            s = u * u + v * v
            if 0 < s < 1:
                break
        factor = math.sqrt(-2 * math.log(s) / s)
        self.spare = v * factor
        return u * factor

    def gamma(self, shape):
        if shape < 1:
            larger = self.gamma(shape + 1)
            return larger * self.uniform() ** (1 / shape)
        d = shape - 1 / 3
        while True:
            z = self.normal()
            v = (1 + z / math.sqrt(9 * d)) ** 3
            if v <= 0:
                continue
            u = self.uniform()
            if u == 0 or math.log(u) < z * z / 2 + d - d * v + d * math.log(v):
                return d * v


def brownian(rows, features, seed):
    def walk(stream):
        random = Random(seed, stream)
        return np.cumsum([random.normal() for _ in range(features)])

    difference = 0.8 * walk(FIRST_STREAM) / math.sqrt(features)
    return np.array([walk(FIRST_STREAM + 1 + i) + (i % 2) * difference for i in range(rows)])


def pair(kind, n, seed):
    matrices = []
    for first in (FIRST_STREAM, FIRST_STREAM + (1 << 32)):
        u = Random(seed, first).uniform()
        paths = []
        for r in range(4 * n):
            random = Random(seed, first + 1 + r)
            if kind == "fbm":
                hurst = 0.1 + 0.8 * u
                t = np.arange(1.0, n + 1)
                s = t[:, None]
                covariance = (s ** (2 * hurst) + t ** (2 * hurst) - abs(s - t) ** (2 * hurst)) / 2
                paths.append(np.linalg.cholesky(covariance) @ [random.normal() for _ in range(n)])
            else:
                beta = 2 ** (4 * u - 1)
                scale = math.sqrt(math.gamma(1 / beta) / math.gamma(3 / beta))
                steps = []
                for _ in range(n):
                    size = scale * random.gamma(1 / beta) ** (1 / beta)
                    steps.append(-size if random.coin() else size)
                paths.append(np.cumsum(steps))
        matrices.append(np.atleast_2d(np.cov(np.array(paths), rowvar=False, bias=True)))
    return matrices


def weston_linear(seed, rows=100, features=202):
    table, labels = [], []
    for i in range(rows):
        random = Random(seed, FIRST_STREAM + 1 + i)
        y = 2 * random.coin() - 1
        first = random.uniform() < 0.7
        row = []
        for j in range(6):
            z = random.normal()
            row.append(y * (j % 3 + 1 + z) if (j < 3) == first else z)
        table.append(row + [math.sqrt(20) * random.normal() for _ in range(features - 6)])
        labels.append(str(y))
    return np.array(table), labels


def weston_nonlinear(seed, rows=100, features=52):
    table, labels = [], []
    for i in range(rows):
        random = Random(seed, FIRST_STREAM + 1 + i)
        y = 2 * random.coin() - 1
        sign = 2 * random.coin() - 1
        centre = (0.75, 3) if y < 0 else (3, -3)
        row = [sign * c + random.normal() for c in centre]
        table.append(row + [math.sqrt(20) * random.normal() for _ in range(features - 2)])
        labels.append(str(y))
    return np.array(table), labels


def clusters(seed, rows=60, features=125, classes=3, relevant=5, centres=(-1, 1), variances=(0, 0.02)):
    each = -(-rows // classes)
    columns = []
    for j in range(features):
        random = Random(seed, FIRST_STREAM + 1 + j)
        column = []
        for _ in range(classes):
            centre = centres[0] + (centres[1] - centres[0]) * random.uniform()
            deviation = math.sqrt(variances[0] + (variances[1] - variances[0]) * random.uniform())
            column += [centre + deviation * random.normal() for _ in range(each)]
        if j >= relevant:
            random.shuffle(column)
        columns.append(column)
    return np.array(columns).T, [f"c{c}" for c in range(classes) for _ in range(each)]


def sessions(seed):
    table, labels = clusters(seed, 120, 60, 3, 12, (0, 1), (0.01, 0.02))
    for j in range(60):
        random = Random(seed, FIRST_STREAM + (1 << 32) + j)
        for first in range(0, 120, 8):
            table[first:first + 8, j] *= 2 * random.coin() - 1
    return table, labels


def bendor(seed, m=600, a=25, b=47, e=0.72, d=555, s=0.75):
    columns = []
    for j in range(m):
        random = Random(seed, FIRST_STREAM + 1 + j)
        means = [0, 0]
        if j < m - round(e * m):
            means = [3 * d * (random.uniform() - 0.5) for _ in range(2)]
        spreads = [abs(mean) * s for mean in means] if j < m - round(e * m) else [s, s]
        columns.append([mean + math.sqrt(spread) * random.normal()
                        for mean, spread, rows in zip(means, spreads, (a, b)) for _ in range(rows)])
    return np.array(columns).T, ["A"] * a + ["B"] * b


PAPERS = {"weston-linear": weston_linear, "weston-nonlinear": weston_nonlinear, "clusters": clusters,
          "sessions": sessions, "bendor": bendor}


def same(got, want):
    error = abs(got - want).max() / abs(want).max()
    if got.shape != want.shape or not error < 1e-12:
        sys.exit(f"shapes {got.shape} and {want.shape}, largest relative difference {error}")


if sys.argv[1] == "brownian":
    rows, features, seed = map(int, sys.argv[2:5])
    with open(sys.argv[5]) as file:
        header, *lines = file.read().split()
    assert header == ",".join([f"x{j}" for j in range(features)] + ["class"]), header
    fields = [line.split(",") for line in lines]
    assert [f[-1] for f in fields] == ["ab"[i % 2] for i in range(rows)]
    same(np.array([[float(value) for value in f[:-1]] for f in fields]), brownian(rows, features, seed))
elif sys.argv[1] in PAPERS:
    want, labels = PAPERS[sys.argv[1]](int(sys.argv[2]))
    with open(sys.argv[3]) as file:
        fields = [line.split(",") for line in file.read().split()[1:]]
    assert [f[-1] for f in fields] == labels
    same(np.array([[float(value) for value in f[:-1]] for f in fields]), want)
else:
    for path, want in zip(sys.argv[4:6], pair(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))):
        same(np.load(path), want)
