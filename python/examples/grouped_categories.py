"""
Grouped categories
==================

A category that became several 0/1 columns enters as a whole or not at all: ``k`` counts categories then.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import subspectra as sp

rng = np.random.default_rng(3)
rows = 400
table = pd.DataFrame(
    {
        "colour": rng.choice(["red", "green", "blue", "grey"], rows),
        "region": rng.choice(["north", "south", "east", "west", "centre"], rows),
        "age": rng.normal(50, 12, rows),
        "weight": rng.normal(70, 10, rows),
        "grade": rng.choice(["a", "b", "c"], rows),
    }
)
risk = 1.4 * table["region"].isin(["north", "west"]) - 0.9 * (table["grade"] == "a") + 0.03 * (table["age"] - 50)
y = np.where(risk + rng.logistic(size=rows) > 0.4, "ill", "well")

# %%
# One-hot columns, and for each the column that it came from.
X = pd.get_dummies(table, drop_first=True, dtype=float)
groups = [name.split("_")[0] for name in X.columns]

by_group = sp.SparseLDA(k=2, groups=groups).fit(X, y)
print("two categories:", sorted({groups[j] for j in by_group.features_}), "as", by_group.get_feature_names_out().tolist())

single = sp.SparseLDA(k=2).fit(X, y)
print("two columns:   ", single.get_feature_names_out().tolist())

honest = sp.evaluate(X, y, method="gslda", k=range(1, 6), groups=groups, repeats=3)
ax = honest.plot_error()
ax.set_xlabel("categories")
ax.set_title("Whole categories: error on held-out rows")
ax.figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "grouped_categories.png", dpi=80)
plt.close("all")
