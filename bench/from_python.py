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


def split(_: int) -> None:
    native.Split(world.rank < middle).Free()


def seconds(call: Callable[[int], Any], calls: int) -> float:
    """Of the slowest rank. The root moves, so that nobody runs ahead."""
    native.Barrier()
    begin = time.perf_counter()
    for i in range(calls):
        call(i % world.size)
    return native.allreduce((time.perf_counter() - begin) / calls, MPI.MAX)


def in_turn(name: str, own: Callable[[int], Any], other: Callable[[int], Any], calls: int) -> None:
    times = [(seconds(own, calls), seconds(other, calls)) for _ in range(REPETITIONS)]
    mine, theirs = (median(one) * 1e6 for one in zip(*times))
    if world.rank == 0:
        print(f"{name:28} wisp {mine:8.2f} µs   mpi4py {theirs:8.2f} µs   ratio {mine / theirs:.2f}", flush=True)


in_turn("range (Split)", lambda _: world.range(0, middle), split, 300)
in_turn("Ibcast and wait, 8 B", lambda r: world.Ibcast(buf, r).wait(), lambda r: native.Ibcast(buf, r).Wait(), 300)
in_turn("Bcast, 8 B", lambda r: world.Bcast(buf, r), lambda r: native.Bcast(buf, r), 300)
in_turn("Iallreduce and wait, 8 B", lambda _: world.Iallreduce(buf, total).wait(), lambda _: native.Iallreduce(buf, total).Wait(), 300)
in_turn("bcast of an object", lambda r: world.bcast({"a": 1}, r), lambda r: native.bcast({"a": 1}, r), 300)

elements = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
mine = np.random.default_rng(world.rank).random(elements // world.size)
parts = native.gather(mine)
times = []
for _ in range(5):
    of_all = seconds(lambda _: (wisp.sort(mine, world), native.Barrier()), 1)
    whole = np.concatenate(parts) if parts is not None else mine[:0]
    times.append((of_all, seconds(lambda _: np.sort(whole), 1)))
    native.Barrier()
own, other = (median(one) for one in zip(*times))
if world.rank == 0:
    print(f"sort of {elements} doubles     wisp {own:.3f} s   numpy.sort on one rank {other:.3f} s   {other / own:.1f} times faster")
