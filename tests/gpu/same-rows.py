#!/usr/bin/env python3
"""Compares the searches of two tree files: same-rows.py ONE OTHER

What the searches reached, and what their validation counted, must be the same; and where there was
one, the second file must say how long it took. The steps of its breadth-first searches found all
that was reached, but the root.
"""

import sys

import h5py

COLUMNS = ["root", "edges", "reached", "levels", "checked", "violations"]

with h5py.File(sys.argv[1]) as one, h5py.File(sys.argv[2]) as other:
    rows = [f["/run/search"][:] for f in (one, other)]
    different = [c for c in COLUMNS if not (rows[0][c] == rows[1][c]).all()]
    seconds = other["/run"].attrs.get("checking_time", -1)
    checked = rows[1]["checked"].any()
    steps = other["/run/steps"][:]

if different:
    sys.exit("these columns differ: " + ", ".join(different))
if checked and not seconds > 0:
    sys.exit(f"checking_time is {seconds}")
for search, row in enumerate(rows[1]):
    own = steps[steps["search"] == search]
    found = own["discovered"].sum() + own["discovered_next"].sum()
    if row["levels"] >= 0 and found != row["reached"] - 1:
        sys.exit(f"search {search} reached {row['reached']}, and its steps found {found}")
