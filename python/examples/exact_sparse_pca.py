"""
Exact sparse principal components
=================================

Which five bands of the sonar echoes carry the most variance in one direction? The relaxation of Zou, Hastie and Tibshirani, the greedy
search and the proof, side by side, with scikit-learn's at the same number of loadings.
"""

import sys
from pathlib import Path

import numpy as np
import subspectra as sp
from sklearn.decomposition import SparsePCA

X, _ = sp.datasets.load("sonar", return_X_y=True)
k = 5

for method in ("spca", "gspca", "exact"):
    pca = sp.SparsePCA(method, k=k).fit(X)
    print(f"{method:6}", pca.features_, "variance", round(pca.explained_variance_[0], 6), "proven" if pca.certificate_["certified"] else "")

# %%
# scikit-learn's penalty is tuned until five loadings are left; its variance is that of the unit vector.
centred = X - X.mean(axis=0)
for alpha in np.geomspace(0.2, 6, 40):
    theirs = SparsePCA(1, alpha=alpha, random_state=0, max_iter=200).fit(X).components_[0]
    if np.count_nonzero(theirs) <= k:
        break
direction = theirs / np.linalg.norm(theirs)
print("scikit-learn", np.flatnonzero(theirs), "variance", round(float((centred @ direction).var()), 6))

found = sp.search(np.cov(X.T, bias=True), k=range(1, 9), method="greedy", bounds=True)
ax = found.plot_path()
ax.set_title("Sonar: variance of the first sparse component")
ax.figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "exact_sparse_pca.png", dpi=80)
