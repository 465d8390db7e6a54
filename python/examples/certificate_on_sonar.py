"""
Sonar with a certificate
========================

208 echoes of mines and rocks, 60 frequency bands. Which three bands tell them apart best? The exact search answers with a proof: no other
three do better by Fisher's criterion.
"""

import sys
from pathlib import Path

import subspectra as sp

X, y = sp.datasets.load("sonar", return_X_y=True)

# %%
# The greedy search has a bound: what a set of that size could reach at most.
greedy = sp.SparseLDA("gslda", k=3).fit(X, y)
print("greedy:", greedy.certificate_)

# %%
# The exact search closes the gap.
exact = sp.SparseLDA("exact", k=3).fit(X, y)
print("exact: ", exact.certificate_)
assert exact.certificate_["certified"]

# %%
# Of every size, with the greedy sets beside the proven ones.
found = sp.select(X, y, method="eslda", k=range(1, 5))
print(found.path.to_frame()[["k", "objective", "certified"]])

# %%
# An independent route through plain dense algebra agrees.
print("verified:", sp.verify(found, X, y)["verdict"])

ax = found.plot_path()
ax.set_title("Sonar: the best sets of one to four bands, proven")
ax.figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "certificate_on_sonar.png", dpi=80)
