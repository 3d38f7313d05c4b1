"""Neighborhood collectives and halos, beside a serial array of everything."""

import itertools
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI
from support import WispTest


class NeighborhoodsTest(WispTest):
    def test_halo(self) -> None:
        for dimensions, periodic, ghost in itertools.product((1, 2, 3), (True, False), (1, 2)):
            for components in ((), (2,)):
                with self.subTest(dimensions=dimensions, periodic=periodic, ghost=ghost, components=components):
                    self.check_halo(dimensions, periodic, [ghost] * dimensions, components, uneven=False)
        self.check_halo(2, True, [1, 2], (), uneven=True)
        self.check_halo(2, False, [0, 1], (), uneven=True)

    def check_halo(self, dimensions: int, periodic: bool, ghosts: Any, components: Any, uneven: bool) -> None:
        hood = wisp.Neighborhood(self.world, [0] * dimensions, [int(periodic)] * dimensions)
        here = hood.coordinates
        # Where the parts of ranks begin, dimension by dimension.
        ends: list[Any] = [np.cumsum([0] + [4 + (i % 2 if uneven else 0) for i in range(n)]) for n in hood.dims]
        shape = [int(end[-1]) for end in ends]
        whole = (*shape, *components)
        everything = np.arange(float(np.prod(whole))).reshape(whole)
        widths = [(g, g) for g in ghosts] + [(0, 0)] * len(components)
        padded = np.pad(everything, widths, "wrap") if periodic else np.pad(everything, widths, constant_values=-1)
        cut = tuple(slice(int(end[c]), int(end[c + 1]) + 2 * g) for end, c, g in zip(ends, here, ghosts))
        expected = padded[cut]
        array = np.full(expected.shape, -1.0)
        inside = tuple(slice(g, expected.shape[i] - g) for i, g in enumerate(ghosts))
        array[inside] = expected[inside]
        halo = hood.halo(array, ghosts[0] if len(set(ghosts)) == 1 else ghosts)
        for _ in range(2):
            halo.exchange()
            self.assert_same(array, expected)
        # Written again, in time for the next one.
        array[inside] += 1
        halo.start()
        halo.wait()
        self.assert_same(array, np.where(expected == -1, -1, expected + 1))

    def test_all_hear_of_a_wrong_array(self) -> None:
        hood = wisp.Neighborhood(self.world, [0, 0])
        array = np.zeros((2, 9) if self.world.rank == self.world.size - 1 else (9, 9))
        with self.assertRaisesRegex(ValueError, "no room for its ghost layers|another rank is wrong"):
            hood.halo(array)
        is_wrong = self.world.rank == self.world.size - 1
        for given, ghost in (([0] * 9 if is_wrong else np.zeros((9, 9)), 1), (np.zeros((9, 9)), 1.5 if is_wrong else 1)):
            with self.assertRaisesRegex((TypeError, ValueError), "an array is expected|integer|another rank is wrong"):
                hood.halo(given, ghost)  # type: ignore[arg-type]
        self.world.Barrier()
        hood.halo(np.zeros((9, 9)), np.array(2)).exchange()  # type: ignore[arg-type]

    def test_halos_of_other_elements(self) -> None:
        hood = wisp.Neighborhood(self.world, [0])
        if self.world.size > 1:
            with self.assertRaisesRegex(TypeError, "different elements"):
                hood.halo(np.zeros(5, "f4" if self.world.rank == 0 else "f8"))
        dates = np.zeros(5, "M8[s]") + self.world.rank
        hood.halo(dates, np.int64(1)).exchange()  # type: ignore[arg-type]
        self.assert_same(dates[:1], np.array([(self.world.rank - 1) % self.world.size], "M8[s]"))

    def test_collectives(self) -> None:
        p, r = self.world.size, self.world.rank
        hood = wisp.Neighborhood(self.world, [p], offsets=[[1], [-1], [2], [0]])
        self.assertEqual(hood.targets, [(r + 1) % p, (r - 1) % p, (r + 2) % p, r])
        self.assertEqual((hood.size, hood.dims, hood.periods), (4, [p], [True]))
        sources = np.array(hood.sources)
        for face in self.faces(hood, "Neighbor_allgather"):
            pairs = np.zeros((4, 2), int)
            face(np.full(2, r), pairs)
            self.assert_same(pairs, np.stack([sources, sources], axis=1))
        for face in self.faces(hood, "Neighbor_alltoall"):
            got = np.zeros(4, int)
            face(10 * r + np.arange(4), got)
            self.assert_same(got, 10 * sources + np.arange(4))
        counts = [1, 0, 2, 1]
        for face in self.faces(hood, "Neighbor_alltoallv"):
            got = np.zeros(4, int)
            face([10 * r + np.arange(4), counts], [got, counts])
            self.assert_same(got, np.repeat(10 * sources, counts) + np.arange(4))
        for face in self.faces(hood, "Neighbor_allgatherv"):
            got = np.zeros(8, int)
            face(np.full(2, r), [got, 2])
            self.assert_same(got, np.repeat(sources, 2))
        matrix, result = np.arange(16.0).reshape(4, 4) + 100 * r, np.zeros((4, 4))
        for face in self.faces(hood, "Neighbor_alltoallw"):
            result[:] = 0
            face(list(matrix.T), list(result))
            self.assert_same(result, matrix.T - 100 * r + 100 * sources[:, None])

    def test_a_rank_without_neighbors_gives_empty_lists(self) -> None:
        p, r = self.world.size, self.world.rank
        # All but the first send to the first, which sends to nobody; nobody else receives.
        sources = list(range(1, p)) if r == 0 else []
        targets = [] if r == 0 else [0]
        hood = wisp.Neighborhood.adjacent(self.world, sources, targets)
        mine = np.full(1, float(r))
        for face in self.faces(hood, "Neighbor_alltoallw"):
            got = np.full(p, -1.0)
            send = [mine, [1] * len(targets), [0] * len(targets), [MPI.DOUBLE] * len(targets)]
            receive = [got, [1] * len(sources), [8 * q for q in sources], [MPI.DOUBLE] * len(sources)]
            face(send, receive)
            self.assert_same(got, [-1.0, *map(float, sources)] if r == 0 else np.full(p, -1.0))

    def test_any_neighbors(self) -> None:
        p, r = self.world.size, self.world.rank
        hood = wisp.Neighborhood.adjacent(self.world, [(r - 1) % p, MPI.PROC_NULL], [(r + 1) % p, MPI.PROC_NULL])
        got = np.full(2, -1)
        hood.Neighbor_alltoall(np.array([r, 99]), got)
        self.assert_same(got, [(r - 1) % p, -1])
        hood.comm.Free()  # a communicator of one's own
        got[:] = -1
        hood.Neighbor_alltoall(np.array([r, 99]), got)
        self.assert_same(got, [(r - 1) % p, -1])
        alone = wisp.Neighborhood.adjacent(self.world, [], [])
        for name in ("Neighbor_alltoallw", "Neighbor_alltoallv", "Neighbor_alltoall"):
            for face in self.faces(alone, name):
                face(None, None)
