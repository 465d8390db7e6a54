"""
The exact subset in a pipeline
==============================

A filter thins out, the exact search proves, another library's classifier decides; a grid chooses the size.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import subspectra as sp
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True, as_frame=True)

pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), sp.SparseLDA("exact"), LogisticRegression())
grid = GridSearchCV(pipeline, {"sparselda__k": [1, 2, 3, 4]}, cv=5).fit(X, y)
print("size:", grid.best_params_, "accuracy:", round(grid.best_score_, 4))

# %%
# What was chosen, by name, and what is proven of it.
chosen = grid.best_estimator_[:-1]
print(chosen.get_feature_names_out(X.columns).tolist())
print(chosen[-1].certificate_)

# %%
# The choice of the size is part of the fit: folds outside the grid judge it, too.
print("nested:", cross_val_score(grid, X, y, cv=3).round(3))

figure, ax = plt.subplots(layout="constrained")
ax.errorbar([1, 2, 3, 4], grid.cv_results_["mean_test_score"], grid.cv_results_["std_test_score"], fmt="o-")
ax.set_xticks([1, 2, 3, 4])
ax.set_xlabel("features")
ax.set_ylabel("accuracy of logistic regression")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "exact_subset_in_a_pipeline.png", dpi=80)
