"""
Text without labels
===================

Counts of words in short texts about two subjects that nobody has marked. Q-alpha weighs the words by how well they make the texts fall
into clusters; the clusters on the chosen words are the subjects.
"""

import sys
from pathlib import Path

import numpy as np
import subspectra as sp
from scipy import sparse

music = ["chord", "melody", "rhythm", "tempo", "violin", "piano", "orchestra", "sonata"]
garden = ["soil", "seed", "root", "compost", "prune", "blossom", "harvest", "weed"]
common = [f"word{i}" for i in range(184)]
words = np.asarray(music + garden + common)

# %%
# Every text has eighty words of all kinds, and a few of its subject.
rng = np.random.default_rng(1)
subject = np.repeat([0, 1], 60)
counts = rng.multinomial(80, rng.dirichlet(np.full(200, 50.0)), size=120).astype(float)
for row, own in enumerate(subject):
    counts[row, own * 8 : own * 8 + 8] += rng.poisson(3.0, size=8)
X = sparse.csr_matrix(counts)  # stays sparse

clusters = sp.SpectralFeatureClustering(2, k=16).fit(X)
print("words:", words[clusters.features_].tolist())
agreement = max(np.mean(clusters.labels_ == subject), np.mean(clusters.labels_ != subject))
print(f"texts put to their subject: {agreement:.0%}")

ax = clusters.plot_features(most=24)
ax.set_yticks(ax.get_yticks(), [words[int(label.get_text()[1:])] for label in ax.get_yticklabels()])
ax.set_title("Weights of words, found without labels")
ax.figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "text_without_labels.png", dpi=80)
