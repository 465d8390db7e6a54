"""
A page to send
==============

What was found on one page that somebody without Python can open: which features, whether they are the best, how well they do on new rows,
whether they would be chosen again. One file, no network; in a notebook the page stands below the cell.
"""

import sys
from pathlib import Path

import subspectra as sp

X, y = sp.datasets.load("sonar", return_X_y=True)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# %%
# The sets of one to five bands with their proofs, and the errors of two methods on held-out rows.
found = sp.select(X, y, method="eslda", k=range(1, 6))
judged = sp.evaluate(X, y, method=["eslda", "fisher"], k=range(1, 6))

# %%
# With the table the page also says what the objective loses without each band, and which bands are near copies; no row of it
# is in the file.
page = sp.report(found, judged, data=X, y=y, path=folder / "a_page_to_send.html", figures=folder / "a_page_to_send")
print(f"{page}: {Path(page).stat().st_size // 1000} kB")
print("figures:", ", ".join(sorted(file.name for file in (folder / "a_page_to_send").iterdir())))

# %%
# A fitted estimator has a page, too: its sets, what chose their size, and the model.
shown = sp.report(sp.SparseLDA(k=range(1, 6)).fit(X, y))
print(f"{len(shown) // 1000} kB, {len(shown.figures)} figures")
