"""wisp's calls from Python beside mpi4py's, in turn, and wisp.sort beside numpy.sort of everything on one rank.

usage: mpirun -n 2 python bench/from_python.py [elements]
"""

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI

REPETITIONS = 21

native = MPI.COMM_WORLD.Dup()
world = wisp.Comm(MPI.COMM_WORLD)
buf, total = np.zeros(1), np.zeros(1)
middle = world.size // 2


def split() -> None:
    native.Split(world.rank < middle).Free()


def seconds(call: Callable[[], Any], calls: int) -> float:
    native.Barrier()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def in_turn(name: str, own: Callable[[], Any], other: Callable[[], Any], calls: int) -> None:
    times = [(seconds(own, calls), seconds(other, calls)) for _ in range(REPETITIONS)]
    mine, theirs = (median(one) * 1e6 for one in zip(*times))
    if world.rank == 0:
        print(f"{name:28} wisp {mine:8.2f} µs   mpi4py {theirs:8.2f} µs   ratio {mine / theirs:.2f}", flush=True)


in_turn("range (Split)", lambda: world.range(0, middle), split, 300)
in_turn("Ibcast and wait, 8 B", lambda: world.Ibcast(buf, 0).wait(), lambda: native.Ibcast(buf, 0).Wait(), 300)
in_turn("Bcast, 8 B", lambda: world.Bcast(buf, 0), lambda: native.Bcast(buf, 0), 300)
in_turn("Iallreduce and wait, 8 B", lambda: world.Iallreduce(buf, total).wait(), lambda: native.Iallreduce(buf, total).Wait(), 300)
in_turn("bcast of an object", lambda: world.bcast({"a": 1}), lambda: native.bcast({"a": 1}), 300)

elements = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
mine = np.random.default_rng(world.rank).random(elements // world.size)
parts = native.gather(mine)
times = []
for _ in range(5):
    of_all = seconds(lambda: (wisp.sort(mine, world), native.Barrier()), 1)
    whole = np.concatenate(parts) if parts is not None else mine[:0]
    times.append((of_all, seconds(lambda: np.sort(whole), 1)))
    native.Barrier()
own, other = (median(one) for one in zip(*times))
if world.rank == 0:
    print(f"sort of {elements} doubles     wisp {own:.3f} s   numpy.sort on one rank {other:.3f} s   {other / own:.1f} times faster")
