"""Weightless process groups and collectives for MPI, beside mpi4py.

    from mpi4py import MPI
    import wisp

    world = wisp.Comm(MPI.COMM_WORLD)
    half = world.range(0, world.size // 2 - 1)   # local, no message
"""

from ._comm import wait_all, wait_any
from ._core import Comm, Error, Neighborhood, Request, Status, simulated_time, simulated_work
from ._core import version as __version__
from ._halo import Halo
from ._simulate import Report, simulate
from ._sort import argsort, isort, nth_element, searchsorted, sort, take, top_k, unique

__all__ = [
    "Comm", "Error", "Halo", "Neighborhood", "Report", "Request", "Status", "argsort", "isort", "nth_element",
    "searchsorted", "simulate", "simulated_time", "simulated_work", "sort", "take", "top_k", "unique", "wait_all",
    "wait_any", "__version__",
]  # fmt: skip
