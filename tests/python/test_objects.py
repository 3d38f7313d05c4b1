"""Pickled objects, splits by any data, and communicators."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI
from support import WispTest
from wisp._labels import ordered_bytes


class Unpicklable:
    def __reduce__(self) -> Any:
        raise RuntimeError("cannot be pickled")


class BadIndex:
    def __index__(self) -> int:
        raise ValueError("no index")


class ObjectsTest(WispTest):
    def test_pickled(self) -> None:
        for comm, mpi in self.communicators():
            p, r = comm.size, comm.rank
            mine = {"rank": r, "data": [r] * r}
            for root in range(p):
                self.assertEqual(comm.bcast(mine, root), mpi.bcast(mine, root))
                self.assertEqual(comm.gather(mine, root), mpi.gather(mine, root))
                objects = [(r, q) for q in range(p)] if r == root else None
                self.assertEqual(comm.scatter(objects, root), mpi.scatter(objects, root))
            for size in [*range(470, 520), 10**6]:  # around what one broadcast takes
                self.assertEqual(comm.bcast(bytes(size) if r == 0 else None), bytes(size))
            self.assertEqual(comm.allgather(mine), mpi.allgather(mine))
            self.assertEqual(comm.alltoall([(r, q) for q in range(p)]), [(q, r) for q in range(p)])

    def test_joined(self) -> None:
        def follow(a: str, b: str) -> str:  # associative, and does not commute
            return a + b

        for comm, mpi in self.communicators():
            p, r = comm.size, comm.rank
            text = chr(ord("a") + r) * (r + 1)
            for op in (follow, MPI.SUM):
                self.assertEqual(comm.allreduce(text, op), mpi.allreduce(text, op))
                self.assertEqual(comm.scan(text, op), mpi.scan(text, op))
                self.assertEqual(comm.exscan(text, op), mpi.exscan(text, op))
                for root in range(p):
                    self.assertEqual(comm.reduce(text, op, root), mpi.reduce(text, op, root))
            self.assertEqual(comm.allreduce(r), p * (p - 1) // 2)
            self.assertEqual(comm.allreduce((-r, r), op=MPI.MINLOC), mpi.allreduce((-r, r), op=MPI.MINLOC))
            self.assertEqual(comm.reduce(r, root=p - 1), mpi.reduce(r, root=p - 1))
            comm.barrier()
        for call in (self.world.reduce, self.world.allreduce, self.world.scan, self.world.exscan):
            # Of which all hear.
            is_wrong = self.world.rank == self.world.size - 1
            text = f"wisp.Comm.{call.__name__}: op: a function of two objects" if is_wrong else "has not what can be pickled"
            with self.assertRaisesRegex(TypeError if is_wrong else wisp.Error, text):
                call(1, 5 if is_wrong else MPI.SUM)  # type: ignore[arg-type]
            with self.assertRaisesRegex(Exception, "pickled"):
                call(Unpicklable() if self.world.rank == 0 else 1)

    def test_messages(self) -> None:
        for comm, _ in self.communicators():
            p, r = comm.size, comm.rank
            right, left = (r + 1) % p, (r - 1) % p
            for size in (0, 10, 5000, 300000):
                status = MPI.Status()
                got = comm.sendrecv({"from": r, "data": bytes(size)}, right, 5, source=left, recvtag=5, status=status)
                self.assertEqual(got, {"from": left, "data": bytes(size)})
                self.assertEqual((status.source, status.tag), (left, 5))
                sent = [comm.isend((r, i, "x" * (size >> i)), right, i) for i in range(4)]
                received = [comm.irecv(source=left, tag=i) for i in (2, 0, 3, 1)]
                self.assertEqual([one.wait() for one in received], [(left, i, "x" * (size >> i)) for i in (2, 0, 3, 1)])
                wisp.wait_all(sent)
            # In their order, where two wait for the same.
            several = [comm.irecv(source=right, tag=(MPI.ANY_TAG, 7)[i % 2]) for i in range(5)]
            for i in range(5):
                comm.isend([i, r], left, 7).wait()
            self.assertEqual(wisp.wait_all(several), [[i, right] for i in range(5)])
            sent = [comm.issend("synchronous", right), comm.isend(None, right)]
            self.assertEqual(comm.recv(source=left), "synchronous")
            self.assertIsNone(comm.recv())
            wisp.wait_all(sent)
            self.assertIsNone(comm.recv(source=MPI.PROC_NULL))
            comm.send("nobody", MPI.PROC_NULL)
            with self.assertRaisesRegex(RuntimeError, "pickled"):
                comm.send(Unpicklable(), right)
            for wrong in (lambda: comm.sendrecv(1, p), lambda: comm.sendrecv(1, right, source=p), lambda: comm.sendrecv(1, right, -1),
                          lambda: comm.sendrecv(1, right, recvtag=1 << 20), lambda: comm.recv(source=p), lambda: comm.send(1, p)):  # fmt: skip
                with self.assertRaises(wisp.Error):
                    wrong()
            with self.assertRaisesRegex(TypeError, "status: a status of mpi4py"):
                comm.sendrecv(1, right, status=5)  # type: ignore[arg-type]
            comm.barrier()
            self.assertIsNone(comm.Iprobe())  # nothing of what was wrong has been sent

    def test_what_cannot_be_unpickled_raises_as_often_as_it_is_asked_for(self) -> None:
        p, r = self.world.size, self.world.rank
        self.world.Send(b"no pickle", (r + 1) % p, 4)
        request = self.world.irecv(source=(r - 1) % p, tag=4)
        for _ in range(2):
            with self.assertRaisesRegex(Exception, "pickle|unpickling|invalid"):
                request.wait()
        # What is wrong with a color on one rank leaves it out, and the others go on.
        bad = np.zeros(3)
        if r == p - 1:
            with self.assertRaises(TypeError):
                self.world.Split(bad)  # type: ignore[arg-type]
        else:
            self.assertEqual(self.world.Split(1).allgather(r), list(range(p - 1)))

    def test_replaced(self) -> None:
        for comm, _ in self.communicators():
            p, r = comm.size, comm.rank
            data = np.full((3, 4), r)
            status = comm.Sendrecv_replace(data[:, 1], (r + 1) % p, 3, (r - 1) % p, 3)
            self.assertEqual((status.source, status.tag), ((r - 1) % p, 3))
            expected = np.full((3, 4), r)
            expected[:, 1] = (r - 1) % p
            self.assert_same(data, expected)

    def test_exchange(self) -> None:
        p, r = self.world.size, self.world.rank
        targets = {q: (r, q) for q in range(p) if random.Random(r * 31 + q).random() < 0.5}
        came = self.world.exchange(targets)
        self.assertEqual(came, {q: (q, r) for q in range(p) if random.Random(q * 31 + r).random() < 0.5})
        for error, text, wrong in (
            (TypeError, "messages: a pair of a rank and a buffer is expected, not 5", [5]),
            (TypeError, "messages: a pair of a rank and a buffer is expected, not \\('a', b'x'\\)", [("a", b"x")]),
            (TypeError, "messages: a pair of a rank and a buffer is expected", [(0, b"x", 3)]),
            (wisp.Error, "wisp.exchange: destination = 1099511627776 is outside 0..", [(2**40, b"x")]),
        ):
            with self.assertRaisesRegex(error, text):
                self.world.Exchange(wrong)  # type: ignore[arg-type]
        blocks = self.world.Exchange([(0, b"a"), (0, np.array([r], "u1")), (p - 1, b"")])
        expected = [(q, block) for q in range(p) for block in (b"a", bytes([q]))] if r == 0 else []
        expected += [(q, b"") for q in range(p)] if r == p - 1 else []
        self.assertEqual(blocks, sorted(expected, key=lambda one: one[0]))

    def test_all_hear_of_an_object_that_cannot_be_pickled(self) -> None:
        p, r = self.world.size, self.world.rank
        last = p - 1
        bad = Unpicklable() if r == last else None
        for call in (lambda: self.world.bcast(bad, last), lambda: self.world.gather(bad), lambda: self.world.allgather(bad),
                     lambda: self.world.scatter([bad] * p if r == last else None, last), lambda: self.world.alltoall([bad] * p)):  # fmt: skip
            with self.assertRaisesRegex(RuntimeError, "pickled"):
                call()
        bad_lists: list[Any] = [[], 5]
        for wrong in bad_lists:
            text = f"0 objects for|not iterable|rank {last} has not what can be pickled"
            with self.assertRaisesRegex(Exception, text):
                self.world.scatter(wrong if r == last else None, last)
            with self.assertRaisesRegex(Exception, text):
                self.world.alltoall(wrong if r == last else [1] * p)
        for messages in ({0: Unpicklable()}, {0: 1, p: 2}, {0: 1, "x": 2}):
            if r == last:
                with self.assertRaisesRegex(Exception, "pickled|rank .* is outside|ranks are integers"):
                    self.world.exchange(messages)  # type: ignore[arg-type]
            elif r == 0:
                with self.assertRaisesRegex(wisp.Error, f"rank {last} has not"):
                    self.world.exchange({})
            else:
                self.assertEqual(self.world.exchange({}), {})
        if r == last:
            with self.assertRaisesRegex(ValueError, "no index"):
                self.world.exchange({BadIndex(): 1, 0: 2})  # type: ignore[dict-item]
        elif r == 0:
            with self.assertRaisesRegex(wisp.Error, f"rank {last} has not"):
                self.world.exchange({})
        else:
            self.world.exchange({})
        if r == last:
            with self.assertRaisesRegex(TypeError, "a mapping of ranks"):
                self.world.exchange([1])  # type: ignore[arg-type]
        else:
            self.world.exchange({})
        self.assertEqual(self.world.allgather(r), list(range(p)))

    def test_a_color_that_is_none_leaves_its_rank_out(self) -> None:
        p, r = self.world.size, self.world.rank
        for split in (self.world.split, lambda color: self.world.isplit(color).wait()):
            if r == p - 1:
                with self.assertRaisesRegex(TypeError, "a color or key is"):
                    split([1])  # type: ignore[arg-type]
            else:
                self.assertEqual(split(1).allgather(r), list(range(p - 1)))
        self.assertEqual(self.world.allgather(r), list(range(p)))

    def test_split(self) -> None:
        p, r = self.world.size, self.world.rank
        colors: list[Callable[[int], Any]] = [
            lambda q: q % 2, lambda q: "ab"[q % 2], lambda q: bytes([q % 2]), lambda q: (q % 2, "x", 1.5), lambda q: q % 2 / 7,
                      lambda q: np.int32(q % 2), lambda q: (1, 1.0, True)[q % 3], lambda q: None if q % 2 else "in", lambda q: [5, "five"][q % 2]]  # fmt: skip
        keys: list[Callable[[int], Any]] = [lambda q: -q, lambda q: ("k", -q), lambda q: f"{99 - q:02}", lambda q: 0]
        for color in colors:
            members = [q for q in range(p) if color(q) == color(r)]
            for key in keys:
                comm = self.world.split(color(r), key(r))
                if color(r) is None:
                    self.assertFalse(comm)
                    continue
                ordered = sorted(members, key=lambda q: (key(q), q))
                self.assertEqual(comm.allgather(r), ordered)
        self.assertEqual(self.world.isplit("same").wait().size, p)

    def test_names_of_mpi4py(self) -> None:
        p, r = self.world.size, self.world.rank
        for color in (r % 2, MPI.UNDEFINED if r == 0 else 1):
            half = self.world.Split(color, -r)
            mpi = MPI.COMM_WORLD.Split(color, -r)
            self.assertEqual(bool(half), mpi != MPI.COMM_NULL)
            if not half:
                continue
            self.assertEqual((half.rank, half.size), (mpi.rank, mpi.size))
            group = half.Get_group()
            mpi_group = mpi.Get_group()
            self.assertEqual(MPI.Group.Compare(group, mpi_group), MPI.IDENT)
            again = self.world.Create_group(group, 3 + half.allreduce(r, min))
            self.assertEqual(again.allgather(r), half.allgather(r))
            copy = half.Dup()
            requests = [copy.isend("copy", 0, 1), half.isend("half", 0, 1)]
            if half.rank == 0:
                self.assertEqual([half.recv(tag=1) for _ in range(half.size)], ["half"] * half.size)
                self.assertEqual([copy.recv(tag=1) for _ in range(half.size)], ["copy"] * half.size)
            wisp.wait_all(requests)
            copy.Free()
            self.assertFalse(copy)
            group.Free()
            mpi_group.Free()
            mpi.Free()
        with self.assertRaisesRegex(TypeError, "group: a group of mpi4py is expected, not int"):
            self.world.Create_group(5)  # type: ignore[arg-type]

    def test_labels_have_the_order_of_values(self) -> None:
        numbers = [0, -1, 1, 2**63 - 1, -(2**63), 2**53 + 1, 2**53, 2**80, 0.5, -0.5, 1e300, -1e300, math.inf, -math.inf, 1e-310]
        texts = ["", "a", "a\0", "a\0b", "ab", "é", "\ud800", "z" * 50, "\0", "\0\0"]
        blobs = [b"", b"\0", b"\0\xff", b"\xff", b"a"]
        for values in (numbers, texts, blobs, [(a, b) for a in texts for b in numbers[:5]], [(), (1,), (1, 2), (1, 2, "a"), ((1, 2), 0)][:4]):
            for a in values:
                for b in values:
                    self.assertEqual(ordered_bytes(a) < ordered_bytes(b), a < b, (a, b))  # type: ignore
                    self.assertEqual(ordered_bytes(a) == ordered_bytes(b), a == b, (a, b))
        self.assertEqual(ordered_bytes(-0.0), ordered_bytes(0))
        self.assertEqual(ordered_bytes(math.nan), ordered_bytes(-math.nan))
        self.assertGreater(ordered_bytes(math.nan), ordered_bytes(math.inf))
        for wrong in ([1], {}, object(), 1j, np.complex128(1)):
            with self.assertRaises(TypeError):
                ordered_bytes(wrong)  # type: ignore[arg-type]
        with self.assertRaisesRegex(OverflowError, "integers have"):
            ordered_bytes(2**200 + 2**130)

    def test_communicators(self) -> None:
        p, r = self.world.size, self.world.rank
        self.assertEqual((self.world.rank, self.world.size), (MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size))
        self.assertFalse(self.world.range(1, 0))
        odd = self.world.range(1, (p - 2) // 2 * 2 + 1, 2) if p > 1 else self.world
        self.assertEqual(bool(odd), odd.rank != MPI.UNDEFINED)
        self.assertEqual(odd.rank, r // 2 if r % 2 or p == 1 else MPI.UNDEFINED)
        backwards = self.world.subset(range(p)[::-1])
        self.assertEqual(backwards.translate(0, self.world), p - 1)
        mpi = backwards.to_mpi()
        self.assertEqual((mpi.rank, mpi.size), (p - 1 - r, p))
        attached = wisp.Comm.attach(mpi)
        self.assertEqual(attached.allgather(r), list(range(p))[::-1])
        self.assertEqual(sum(attached.allgather(1 / self.world.node().size)), self.world.bcast(self.world.node_leaders().size))
        mpi.Free()
