"""What remains when MPI has ended: each call is an error, none reaches MPI."""

from typing import Any, Callable

import numpy as np
from mpi4py import MPI

import wisp


def check(comm: wisp.Comm) -> None:
    """Ends MPI. `comm` is one of before."""
    hood = wisp.Neighborhood(comm, [0])
    MPI.Finalize()
    a, b = np.zeros(2), np.zeros(2)
    column = np.zeros((4, 4))[:, 1]
    calls: dict[str, Callable[[], Any]] = {
        "Allreduce": lambda: comm.Allreduce(a, b),
        "Reduce": lambda: comm.Ireduce(a, b),
        "Bcast of a column": lambda: comm.Bcast(column),
        "Bcast_init": lambda: comm.Bcast_init([a, 2, "d"]),
        "Gather": lambda: comm.Gather(a, None, root=1),
        "Barrier": comm.Barrier,
        "Send": lambda: comm.Send([a, MPI.DOUBLE], 0),
        "Irecv": lambda: comm.Irecv(a, 0),
        "Sendrecv": lambda: comm.Sendrecv(a, 0, recvbuf=b),
        "exchange": lambda: comm.exchange({0: [b"a"]}),
        "bcast": lambda: comm.bcast({"an": "object"}),
        "sort": lambda: wisp.sort(a, comm),
        "sort of words": lambda: wisp.sort(np.array(["a", "b"]), comm),
        "top_k": lambda: wisp.top_k(a, 1, comm),
        "split": lambda: comm.split(0),
        "range": lambda: comm.range(0, 1).Barrier(),
        "Iprobe": comm.Iprobe,
        "Split": lambda: comm.Split(0),
        "recv": comm.recv,
        "irecv": comm.irecv,
        "send": lambda: comm.send("an object", 0),
        "reduce": lambda: comm.reduce(1),
        "Sendrecv_replace": lambda: comm.Sendrecv_replace(a, 0),
        "Get_group": comm.Get_group,
        "Neighborhood": lambda: wisp.Neighborhood(comm, [0]),
        "Neighbor_alltoallw": lambda: hood.Neighbor_alltoallw([a] * hood.size, [b] * hood.size),
        "Neighbor_alltoall": lambda: hood.Neighbor_alltoall([a, 1, MPI.SHORT], [b, 1, MPI.SHORT]),
        "duplicate": lambda: wisp.Comm(MPI.COMM_WORLD),
    }
    for name, call in calls.items():
        try:
            call()
        except (wisp.Error, ValueError, RuntimeError):
            continue
        raise AssertionError(f"{name}: no error after MPI.Finalize")
