"""Halo exchange of arrays with ghost layers."""

import zlib
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
from mpi4py import MPI

from ._core import Neighborhood, Request

Array = np.ndarray[Any, np.dtype[Any]]


class Halo:
    """The ghost layers of one array, to be exchanged as often as one likes."""

    def __init__(self, request: "Request[Any]", array: Array):
        self.array = array
        self._request = request

    def start(self) -> None:
        """Starts an exchange. Until `wait`, the ghost layers must not be read, nor what others get be written."""
        self._request.start()

    def wait(self) -> None:
        self._request.wait()

    def exchange(self) -> None:
        """An exchange from start to end."""
        self.start()
        self.wait()


def _slices(shape: Sequence[int], ghosts: Sequence[int], offset: Sequence[int]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """What goes to the rank at `offset`, and where that of the rank at minus `offset` goes to."""
    inner, outer = [], []
    for length, ghost, step in zip(shape, ghosts, offset):
        if step == 0:
            inner.append(slice(ghost, length - ghost))
            outer.append(slice(ghost, length - ghost))
        elif step > 0:
            inner.append(slice(length - 2 * ghost, length - ghost))
            outer.append(slice(0, ghost))
        else:
            inner.append(slice(ghost, 2 * ghost))
            outer.append(slice(length - ghost, length))
    return tuple(inner), tuple(outer)


def _check(array: Array, ghosts: Sequence[int], dims: Sequence[int], offsets: Sequence[Sequence[int]]) -> None:
    """Raises what is wrong."""
    if not hasattr(array, "ndim"):
        raise TypeError(f"wisp.Neighborhood.halo: an array is expected, not {type(array).__name__}")
    error = ""
    if len(ghosts) != len(dims) or array.ndim < len(dims):
        error = f"{array.ndim} dimensions and {len(ghosts)} ghost widths for a torus of {len(dims)}"
    elif any(abs(step) > 1 for offset in offsets for step in offset):
        error = "offsets beyond the next rank have no ghost layers"
    elif any(g < 0 or n < 3 * g for n, g in zip(array.shape, ghosts)):
        error = f"an array of {array.shape} has no room for its ghost layers {list(ghosts)} and as much between them"
    elif not getattr(array.flags, "writeable", True):  # arrays on a device always are
        error = "the array cannot be written"
    if error:
        raise ValueError(f"wisp.Neighborhood.halo: {error}")


def halo(self: Neighborhood, array: Array, ghost: "int | Sequence[int]" = 1) -> Halo:
    """The halo exchange of an array whose first dimensions are those of the torus, each with `ghost` layers at both
    ends (a number, or one for each dimension). Beyond the border of a mesh they stay as they are. Parts of ranks may
    have different sizes where neighbors agree on the size of their faces. Collective, one allreduce."""
    dims, offsets = self.dims, self.offsets
    ghosts: list[int] = []
    error: Exception | None = None
    try:
        widths: Any = ghost
        ghosts = [index(width) for width in (widths if np.ndim(widths) > 0 else [widths] * len(dims))]
        _check(array, ghosts, dims, offsets)
    except Exception as raised:
        error = raised
        array = np.zeros(0)
    # Whether one is wrong, and whether all are alike: then blocks can travel together.
    shape = zlib.crc32(repr((array.shape, ghosts)).encode())
    elements = zlib.crc32(repr((array.dtype, array.shape[len(dims) :])).encode())
    told = np.array([shape, ~shape, elements, ~elements, error is not None], np.int64)
    self.comm.Allreduce(MPI.IN_PLACE, told, MPI.MAX)
    if told[4]:
        raise error or ValueError("wisp.Neighborhood.halo: the array of another rank is wrong")
    if told[2] != ~told[3]:
        raise TypeError(f"wisp.Neighborhood.halo: ranks have arrays of different elements, here {array.dtype}")
    on = self if told[0] == ~told[1] else Neighborhood.adjacent(self.comm, self.sources, self.targets)
    sent = array.view(np.int64) if array.dtype.kind in "mM" else array  # dates have no buffer
    pairs = [_slices(array.shape, ghosts, offset) for offset in offsets]
    request = on.Neighbor_alltoallw_init([sent[inner] for inner, _ in pairs], [sent[outer] for _, outer in pairs])
    return Halo(request, array)


setattr(Neighborhood, "halo", halo)
