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
        self.assertEqual(sorted(blocks), sorted(expected))

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
