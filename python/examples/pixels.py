"""
Pixels
======

Handwritten threes and fives, 8 x 8 pixels. Which twelve pixels tell them apart?
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import subspectra as sp
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

X, y = load_digits(return_X_y=True)
X, y = X[(y == 3) | (y == 5)], y[(y == 3) | (y == 5)]
train, test, y_train, y_test = train_test_split(X, y, random_state=0)

model = sp.SparseLDA(k=12, prior="uniform").fit(train, y_train)
print(f"{len(model.features_)} of 64 pixels; accuracy on new images {model.score(test, y_test):.3f}")

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, digit in zip(axes[:2], (3, 5), strict=True):
    ax.imshow(train[y_train == digit].mean(axis=0).reshape(8, 8), cmap="Greys")
    ax.set_title(f"the mean {digit}")
    ax.set_axis_off()
model.plot_mask((8, 8), ax=axes[2])
axes[2].set_title("twelve pixels")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "pixels.png", dpi=80)
