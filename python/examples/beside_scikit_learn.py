"""
Beside scikit-learn's selectors
===============================

SelectKBest, RFE, SequentialFeatureSelector and an L1 penalty, at eight features each, with the same rule behind them and the same folds.
"""

import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import subspectra as sp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SequentialFeatureSelector, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

X, y = sp.datasets.load("ionosphere", return_X_y=True)
X = X[:, X.std(axis=0) > 0]  # one column is constant, which scikit-learn's rule does not take
k = 8
rule = LinearDiscriminantAnalysis()
lasso = LinearSVC(penalty="l1", dual=False, C=0.1, max_iter=5000)
contenders = {
    "SelectKBest": make_pipeline(SelectKBest(f_classif, k=k), rule),
    "RFE": make_pipeline(StandardScaler(), RFE(LogisticRegression(max_iter=500), n_features_to_select=k), rule),
    "L1": make_pipeline(StandardScaler(), SelectFromModel(lasso, max_features=k, threshold=-np.inf), rule),
    "SequentialFeatureSelector": make_pipeline(SequentialFeatureSelector(rule, n_features_to_select=k, cv=3), rule),
    "SparseLDA": sp.SparseLDA(k=k),
    "SparseClassifier": sp.SparseClassifier(),
}

folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=1, random_state=0)
errors, seconds = {}, {}
for name, contender in contenders.items():
    start = time.perf_counter()
    errors[name] = 1 - cross_val_score(contender, X, y, cv=folds)
    seconds[name] = time.perf_counter() - start
    print(f"{name:26} error {errors[name].mean():.3f} ± {errors[name].std() / np.sqrt(5):.3f}   {seconds[name]:7.2f} s")

figure, ax = plt.subplots(layout="constrained")
ax.scatter([seconds[name] for name in errors], [errors[name].mean() for name in errors])
middle = np.median(list(seconds.values()))
for place, name in enumerate(sorted(errors, key=seconds.__getitem__)):
    side = "right" if seconds[name] > middle else "left"
    shift = (-5 if side == "right" else 5, 6 if place % 2 else -10)
    ax.annotate(name, (seconds[name], errors[name].mean()), textcoords="offset points", xytext=shift, ha=side, fontsize=8)
ax.set_xscale("log")
ax.set_xlabel("seconds for five folds")
ax.set_ylabel("error on held-out rows")
ax.set_title("Ionosphere, eight features")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "beside_scikit_learn.png", dpi=80)
