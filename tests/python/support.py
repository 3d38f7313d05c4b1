"""Communicators and arrays that the tests go through."""

import unittest
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI

Array = np.ndarray[Any, np.dtype[Any]]

#: What is wrong, with the error and a part of its sentence.
Wrong = list[tuple[type[Exception], str, Callable[[], Any]]]

#: Intel's library for MPI's standard ABI (2021.18) ends the program at what MPI itself finds wrong, whatever the handler.
MPI_RETURNS_ERRORS = not (
    MPI.Get_library_version().startswith("Intel") and getattr(MPI, "Get_abi_version", lambda: (-1, -1))()[0] == 1
)

NUMBERS = "bhilqBHILQfdFD?"


def numbers(dtype: str, shape: "int | tuple[int, ...]", seed: int) -> Array:
    """Small ones, so that sums and products of a few are exact."""
    values = np.random.default_rng([seed, ord(dtype[0])]).integers(0, 3, shape)
    return values.astype(dtype)


class WispTest(unittest.TestCase):
    world: wisp.Comm
    pairs: "list[tuple[str, wisp.Comm, MPI.Intracomm]]"

    @classmethod
    def setUpClass(cls) -> None:
        cls.world = wisp.Comm(MPI.COMM_WORLD)
        p = cls.world.size
        made = [("world", cls.world), ("every second", cls.world.range(0, (p - 1) // 2 * 2, 2)),
                ("backwards", cls.world.subset(list(range(p))[::-1])),
                ("halves", cls.world.split(cls.world.rank * 2 // p))]  # fmt: skip
        cls.pairs = [(name, comm, comm.to_mpi()) for name, comm in made if comm.rank >= 0]

    @classmethod
    def tearDownClass(cls) -> None:
        for _, _, mpi in cls.pairs:
            mpi.Free()

    def communicators(self) -> "Iterator[tuple[wisp.Comm, MPI.Intracomm]]":
        for name, comm, mpi in self.pairs:
            with self.subTest(communicator=name):
                yield comm, mpi

    def faces(self, on: Any, name: str) -> "Iterator[Callable[..., Any]]":
        """The three methods of a collective, each to its end."""

        def started(*args: Any, **named: Any) -> None:
            getattr(on, "I" + name[0].lower() + name[1:])(*args, **named).wait()

        def persistent(*args: Any, **named: Any) -> None:
            request = getattr(on, name + "_init")(*args, **named)
            self.assertFalse(request.active)
            request.start()
            request.wait()

        for face in (getattr(on, name), started, persistent):
            yield face

    def assert_same(self, got: Any, expected: Any) -> None:
        np.testing.assert_array_equal(got, expected)
