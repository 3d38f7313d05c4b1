"""Sorts a table whose rows lie on all ranks, and looks things up in it; beside it, NumPy with all rows in one place.

    mpirun -n 4 python sort_table.py
"""

import numpy as np
import wisp
from mpi4py import MPI

world = wisp.Comm(MPI.COMM_WORLD)
random = np.random.default_rng(world.rank)

# This rank's rows: as many as it happens to have.
rows = 1000 + 100 * world.rank
table = np.zeros(rows, [("city", "U8"), ("year", "i4"), ("rain", "f8")])
table["city"] = random.choice(["Bergen", "Cairo", "Lima", "Oslo"], rows)
table["year"] = random.integers(1900, 2020, rows)
table["rain"] = random.gamma(2.0, 300.0, rows)

by_city = wisp.sort(table, order=["city", "year"])  # equal rows stay in their order
print(f"rank {world.rank}: {len(table)} rows before, {len(by_city)} after, from {by_city['city'][0]} {by_city['year'][0]}")

# Columns that are arrays of their own: the permutation once, and each column by it.
places = wisp.argsort(table["rain"])
cities, rain = wisp.take(table["city"], places), wisp.take(table["rain"], places)

wettest = wisp.top_k(table["rain"], 3)
median = wisp.nth_element(table["rain"], sum(world.allgather(rows)) // 2)
years = wisp.unique(table["year"])
above = wisp.searchsorted(rain, [1000.0])[0]
if world.rank == 0:
    print(f"wettest {wettest.round(1)}, {above} rows below 1000, {years[0]} the first year")

# The same with NumPy, all in one place.
everything = world.gather(table)
parts = world.gather((by_city, cities, rain))
if everything is not None and parts is not None:
    whole = np.concatenate(everything)
    order = np.argsort(whole["rain"], kind="stable")
    assert (np.concatenate([part[0] for part in parts]) == np.sort(whole, order=["city", "year"], kind="stable")).all()
    assert (np.concatenate([part[1] for part in parts]) == whole["city"][order]).all()
    assert (np.concatenate([part[2] for part in parts]) == whole["rain"][order]).all()
    assert median == np.sort(whole["rain"])[len(whole) // 2] and above == np.count_nonzero(whole["rain"] < 1000)
    print("as NumPy sorts them")
