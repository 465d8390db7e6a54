"""
12,600 genes and an honest error
================================

100 samples, 12,600 expression levels, two classes that differ in a handful of genes. The error on the rows that the genes were chosen on
says nothing; the one that counts repeats the choice inside every training fold.
"""

import sys
from pathlib import Path

import numpy as np
import subspectra as sp

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 12_600))
y = np.repeat(["healthy", "tumour"], 50)
X[50:, :8] += 1.0  # eight genes differ, by one standard deviation each

# %%
# A group lasso on all genes: the choice takes a moment.
model = sp.SparseDiscriminant("gloss", k=8).fit(X, y)
print("chosen:", model.features_, "of which real:", np.sum(model.features_ < 8))
print("error on the training rows:", 1 - model.score(X, y))

# %%
# Honest: selection inside every fold, and what labels without any signal would give (``null``).
honest = sp.evaluate(X, y, method=["fisher", "gloss"], k=[1, 2, 4, 8, 16], null=1)
print(honest.to_frame()[["method", "k", "error", "stderr", "apparent_error", "null_error"]])
print("smallest size within one standard error of the best:", honest.k_one_standard_error("gloss"))
print(honest.features("gloss").head(8))

ax = honest.plot_error()
ax.set_xscale("log")
ax.set_title("12,600 genes, 100 samples: error on held-out rows")
ax.figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "many_genes.png", dpi=80)
