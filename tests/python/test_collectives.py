"""Operation × communicator × dtype × in place × face, beside mpi4py's own results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI
from support import NUMBERS, WispTest, numbers


class CollectivesTest(WispTest):
    def compare(self, comm: wisp.Comm, mpi: MPI.Intracomm, name: str, make: Any) -> None:
        """`make` gives the arguments, and the array that is the result."""
        args, result = make()
        getattr(mpi, name)(*args)
        for face in self.faces(comm, name):
            own_args, own_result = make()
            face(*own_args)
            if result is not None:
                self.assert_same(own_result, result)

    def test_bcast(self) -> None:
        for comm, mpi in self.communicators():
            for dtype in NUMBERS:
                for root in range(comm.size):
                    def make() -> Any:
                        buf = numbers(dtype, 5, comm.rank)
                        return (buf, root), buf
                    self.compare(comm, mpi, "Bcast", make)

    def test_reductions(self) -> None:
        for comm, mpi in self.communicators():
            for dtype in "bhilqBHILQfd":
                for op in (MPI.SUM, MPI.MAX, MPI.PROD):
                    for name in ("Allreduce", "Scan", "Exscan"):
                        for in_place in (False, True):
                            def make() -> Any:
                                send, receive = numbers(dtype, 4, comm.rank), np.zeros(4, dtype)
                                if in_place:
                                    return (MPI.IN_PLACE, send, op), send
                                return (send, receive, op), receive
                            self.compare(comm, mpi, name, make)

    def test_reduce(self) -> None:
        for comm, mpi in self.communicators():
            for root in range(comm.size):
                for in_place in (False, True):
                    def make() -> Any:
                        send, receive = numbers("d", 4, comm.rank), np.zeros(4)
                        if comm.rank != root:
                            return (send, None, MPI.SUM, root), None
                        if in_place:
                            return (MPI.IN_PLACE, send, MPI.SUM, root), send
                        return (send, receive, MPI.SUM, root), receive
                    self.compare(comm, mpi, "Reduce", make)

    def test_operators_of_python(self) -> None:
        def second(a: Any, b: Any, _: MPI.Datatype) -> None:  # does not commute
            np.frombuffer(b, "i4")[:] = np.frombuffer(a, "i4") * 10 + np.frombuffer(b, "i4")

        op = MPI.Op.Create(second, commute=False)
        receive = np.zeros(2, "i4")
        self.world.Allreduce(np.full(2, self.world.rank, "i4"), receive, op)
        expected = int("0" + "".join(str(r) for r in range(self.world.size))) if self.world.size < 9 else None
        if expected is not None:
            self.assert_same(receive, [expected] * 2)
        op.Free()

    def test_reduce_scatter(self) -> None:
        for comm, mpi in self.communicators():
            counts = [r % 3 for r in range(comm.size)]
            for in_place in (False, True):
                def block() -> Any:
                    send, receive = numbers("i", 2 * comm.size, comm.rank), np.zeros(2, "i")
                    if in_place:
                        return (MPI.IN_PLACE, send), send[:2]
                    return (send, receive), receive
                self.compare(comm, mpi, "Reduce_scatter_block", block)
            def counted() -> Any:
                send, receive = numbers("i", 2 * comm.size, comm.rank), np.zeros(2, "i")
                return ([send, 2, MPI.INT], [receive, 2, MPI.INT]), receive
            self.compare(comm, mpi, "Reduce_scatter_block", counted)
            def make() -> Any:
                receive = np.zeros(counts[comm.rank], "i")
                return (numbers("i", sum(counts), comm.rank), receive, counts), receive
            self.compare(comm, mpi, "Reduce_scatter", make)

    def test_gather_and_scatter(self) -> None:
        for comm, mpi in self.communicators():
            for dtype in NUMBERS:
                for root in {0, comm.size - 1}:
                    def gather() -> Any:
                        receive = np.zeros((comm.size, 3), dtype) if comm.rank == root else None
                        return (numbers(dtype, 3, comm.rank), receive, root), receive
                    self.compare(comm, mpi, "Gather", gather)
                    def scatter() -> Any:
                        send = numbers(dtype, (comm.size, 3), 1) if comm.rank == root else None
                        receive = np.zeros(3, dtype)
                        return (send, receive, root), receive
                    self.compare(comm, mpi, "Scatter", scatter)

    def test_what_only_the_root_needs_is_read_there(self) -> None:
        comm = self.world
        root = comm.size - 1
        is_root = comm.rank == root
        mine = np.full(2, comm.rank, "i")
        constant = np.zeros(1, "i")
        constant.flags.writeable = False
        received = np.zeros((comm.size, 2), "i")
        comm.Gather(mine, [received if is_root else None, 2, MPI.INT], root)
        comm.Gatherv(mine, received if is_root else "nothing", root)
        total = np.zeros(2, "i")
        comm.Reduce(mine, total if is_root else constant, root=root)
        if is_root:
            self.assert_same(received, [[r, r] for r in range(comm.size)])
            self.assert_same(total, [sum(range(comm.size))] * 2)
        comm.Scatter(received if is_root else object(), mine, root)
        self.assert_same(mine, [comm.rank] * 2)

    def test_irregular(self) -> None:
        for comm, mpi in self.communicators():
            p, r = comm.size, comm.rank
            counts = [(i * 2) % 3 for i in range(p)]
            places = [4 * (p - 1 - i) for i in range(p)]
            specs: list[Callable[[Any], Any]] = [
                lambda a: [a, counts], lambda a: [a, (counts, None), MPI.DOUBLE], lambda a: [a, (counts, places)],
                lambda a: [a, counts, places, "d"], lambda a: [a, np.array(counts), np.array(places), MPI.DOUBLE]]  # fmt: skip
            for spec in specs:
                def gatherv() -> Any:
                    receive = np.zeros(4 * p)
                    return (numbers("d", counts[r], r), spec(receive) if r == 0 else None, 0), receive
                self.compare(comm, mpi, "Gatherv", gatherv)
                def allgatherv() -> Any:
                    receive = np.zeros(4 * p)
                    return (numbers("d", counts[r], r), spec(receive)), receive
                self.compare(comm, mpi, "Allgatherv", allgatherv)
                def scatterv() -> Any:
                    receive = np.zeros(counts[r])
                    return (spec(numbers("d", 4 * p, 3)) if r == 0 else None, receive, 0), receive
                self.compare(comm, mpi, "Scatterv", scatterv)
            def alltoallv() -> Any:
                receive = np.zeros(3 * p, "i4")
                to, due = [(r + i) % 3 for i in range(p)], [(i + r) % 3 for i in range(p)]
                return ([numbers("i4", sum(to), r), to], [receive, due]), receive
            self.compare(comm, mpi, "Alltoallv", alltoallv)
            # Without counts, the first ones have what is left.
            def even() -> Any:
                receive = np.zeros(p + p // 2)
                mine = 1 + (r < p // 2)
                return (numbers("d", mine, r), receive), receive
            self.compare(comm, mpi, "Allgatherv", even)

    def test_all_to_all(self) -> None:
        for comm, mpi in self.communicators():
            p, r = comm.size, comm.rank
            for dtype in NUMBERS:
                for name in ("Alltoall", "Allgather"):
                    def make() -> Any:
                        receive = np.zeros((p, 2), dtype)
                        return (numbers(dtype, (p, 2) if name == "Alltoall" else 2, r), receive), receive
                    self.compare(comm, mpi, name, make)
            def in_place() -> Any:
                both = numbers("d", (p, 2), r)
                return (MPI.IN_PLACE, both), both
            self.compare(comm, mpi, "Alltoall", in_place)
            self.compare(comm, mpi, "Allgather", in_place)
            def counted() -> Any:  # a count is that of one block
                receive = np.zeros(3 * p)
                return ([numbers("d", 3 * p, r), 2, MPI.DOUBLE], [receive, 2, "d"]), receive
            self.compare(comm, mpi, "Alltoall", counted)
            def typed() -> Any:
                receive = np.zeros(p, "i4")
                each = [1] * p, [4 * i for i in range(p)]
                return ([numbers("i4", p, r), each, [MPI.INT] * p], [receive, *each, [MPI.INT] * p]), receive
            self.compare(comm, mpi, "Alltoallw", typed)

    def test_barrier_and_names(self) -> None:
        for face in self.faces(self.world, "Barrier"):
            face()
        last = self.world.size - 1
        for name in ("binomial", "circulant"):
            buf = np.full(3, self.world.rank)
            self.world.Bcast(buf, last, algorithm=name, tag=7)
            self.assert_same(buf, [last] * 3)
        with self.assertRaisesRegex(wisp.Error, "algorithm = teleport"):
            self.world.Bcast(buf, 0, algorithm="teleport")

    def test_a_persistent_request_sees_what_is_written_between(self) -> None:
        buf, total = np.zeros(2), np.zeros(2)
        request = self.world.Allreduce_init(buf, total)
        for i in range(3):
            buf[:] = i + self.world.rank
            request.start()
            request.wait()
            self.assert_same(total, sum(i + r for r in range(self.world.size)))

