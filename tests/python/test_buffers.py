"""What is a buffer: strides, orders, records, other protocols, and what is not."""

import array
import ctypes
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI
from support import MPI_RETURNS_ERRORS, WispTest, Wrong


class OnlyDlpack:
    """As other libraries' arrays are."""

    def __init__(self, of: Any):
        self.of = of

    def __dlpack__(self, **named: Any) -> Any:
        return self.of.__dlpack__(**named)

    def __dlpack_device__(self) -> Any:
        return self.of.__dlpack_device__()


class PairsOfFloats(OnlyDlpack):
    """Its float64 said to be two float32 each."""

    def __dlpack__(self, **named: Any) -> Any:
        capsule = self.of.__dlpack__()
        address = ctypes.pythonapi.PyCapsule_GetPointer
        address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        behind_data_device_and_dimensions = address(capsule, b"dltensor") + 8 + 8 + 4
        (ctypes.c_uint8 * 2).from_address(behind_data_device_and_dimensions)[1] = 32
        ctypes.c_uint16.from_address(behind_data_device_and_dimensions + 2).value = 2
        return capsule


class BuffersTest(WispTest):
    def bcast(self, make: Any, expected: Any) -> None:
        """`make(rank)` is what rank has before."""
        buf = make(self.world.rank)
        self.world.Bcast(buf, 0)
        self.assert_same(np.asarray(buf), expected)

    def test_gaps_go_as_they_are(self) -> None:
        for dtype in ("f8", "u1"):
            self.send_cuts(np.arange(120, dtype=dtype).reshape(4, 5, 6))

    def send_cuts(self, base: Any) -> None:
        for cut in (np.s_[::2], np.s_[:, 1:4], np.s_[..., 2], np.s_[1:3, ::2, ::3], np.s_[:, ::-1], np.s_[::-1], np.s_[3:1:-1, 2],
                    np.s_[..., ::-1], np.s_[::2, 1:4, ::-1]):
            for source in (base, np.asfortranarray(base), base.transpose(2, 0, 1)):
                expected = source.copy()[cut]
                everything = source.copy() if self.world.rank == 0 else np.full_like(source, 200)
                view = everything[cut]
                for face in self.faces(self.world, "Bcast"):
                    face(view, 0)
                    self.assert_same(view, expected)
                if self.world.rank != 0:
                    outside = np.ones(source.shape, bool)
                    outside[cut] = False
                    self.assertTrue((everything[outside] == 200).all())

    def test_the_two_sides_may_have_other_shapes(self) -> None:
        p, r = self.world.size, self.world.rank
        matrix = np.arange(12.0).reshape(3, 4) + 100 * r
        columns = np.zeros((p, 6))
        self.world.Allgather(matrix[:, 1], columns[:, ::2])  # three elements each
        self.assert_same(columns[:, ::2], np.array([[1.0, 5, 9]] * p) + 100 * np.arange(p)[:, None])
        self.assertTrue((columns[:, 1::2] == 0).all())

    def test_dtypes_that_mpi_has_not(self) -> None:
        record = np.dtype([("a", "i4"), ("b", "S3")])
        for dtype in ("f2", "S5", "U3", "V7", record):
            data = np.zeros(4, dtype)
            if self.world.rank == 0:
                data[:] = np.frombuffer(bytes(range(1, 4 * data.itemsize + 1)), np.uint8).view(dtype) if dtype not in ("U3",) else "abc"
            expected = self.world.bcast(data)
            self.world.Bcast(data, 0)
            self.assertEqual(data.tobytes(), expected.tobytes())
            parts = np.zeros(4 * self.world.size, dtype)
            self.world.Allgatherv(data[: self.world.rank % 2 + 1], [parts, [q % 2 + 1 for q in range(self.world.size)]])
            self.assertEqual(parts[0].tobytes(), expected[0].tobytes())
            with self.assertRaisesRegex(TypeError, "sendbuf.*no numbers"):
                self.world.Allreduce(data, data.copy())

    def test_other_protocols(self) -> None:
        self.bcast(lambda r: bytearray(b"abc" if r == 0 else b"xxx"), np.frombuffer(b"abc", np.uint8))
        self.bcast(lambda r: array.array("d", [r + 1.0, 2]), [1, 2])
        self.bcast(lambda r: memoryview(bytearray([r, 9])), [0, 9])
        kept = np.full(3, self.world.rank)
        self.world.Bcast(OnlyDlpack(kept), 0)
        self.assert_same(kept, [0] * 3)
        strided = np.full((3, 3), self.world.rank, "f4")
        self.world.Bcast(OnlyDlpack(strided[:, 1]), 0)
        self.assert_same(strided[:, 1], [0] * 3)
        if self.world.rank == 0:
            self.world.Bcast(b"const", 0)  # the root's is read only
        else:
            data = bytearray(5)
            self.world.Bcast(data, 0)
            self.assertEqual(bytes(data), b"const")

    def test_numbers_of_two_protocols_are_of_one_type(self) -> None:
        for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"):
            got = np.zeros(3, dtype)
            self.world.Allreduce(OnlyDlpack(np.ones(3, dtype)), got)
            self.assert_same(got, [self.world.size] * 3)

    def test_vectors_of_numbers_are_no_longer_numbers(self) -> None:
        data = np.array([self.world.rank + 1.5, 2.5])
        self.world.Bcast(PairsOfFloats(data), 0)
        self.assert_same(data, [1.5, 2.5])
        with self.assertRaisesRegex(TypeError, "sendbuf.*no numbers"):
            self.world.Allreduce(PairsOfFloats(data), PairsOfFloats(data.copy()))

    def test_counts_and_displacements_in_a_tuple(self) -> None:
        p, r = self.world.size, self.world.rank
        for spec in ((2, 3), ([2] * p, 3), (2, [3 * q for q in range(p)]), (np.full(p, 2), None)):
            got = np.zeros(3 * p)
            self.world.Allgatherv(np.full(2, r + 1.0), [got, spec, "f8"])
            step = 2 if spec[1] is None else 3
            for q in range(p):
                self.assert_same(got[step * q : step * q + 2], [q + 1.0] * 2)

    def test_blocks_backwards(self) -> None:
        p, r = self.world.size, self.world.rank
        got = np.zeros((p, 4), "i4")
        self.world.Allgather(np.full(4, r, "i4"), got[::-1])
        self.assert_same(got[:, 0], np.arange(p)[::-1])
        wide = np.zeros((1, 2 * p))
        self.world.Allgather(np.full(1, float(r)), wide[:, ::2])
        self.assert_same(wide[0, ::2], np.arange(p))

    def test_rows_that_are_one(self) -> None:
        p, r = self.world.size, self.world.rank
        got = np.zeros((p, 3))
        self.world.Alltoall(np.broadcast_to(np.arange(3.0) + r, (p, 3)), got)
        self.assert_same(got, np.arange(3.0) + np.arange(p)[:, None])
        one = np.zeros(3)
        for face in self.faces(self.world, "Scatter"):
            face(np.broadcast_to(np.arange(3.0), (p, 3)) if r == 0 else None, one)
            self.assert_same(one, np.arange(3.0))
        pairs = np.zeros((p, 2))
        self.world.Allgather([np.broadcast_to(np.float64(r), (4,)), 2], pairs)
        self.assert_same(pairs[:, 1], np.arange(p))

    def test_arrays_of_other_owners(self) -> None:
        class Fresh:
            """A new array each time."""

            def __dlpack__(self, **named: Any) -> Any:
                return (np.arange(1e6) + 7).__dlpack__(**named)

            def __dlpack_device__(self) -> Any:
                return 1, 0

        got = np.zeros((self.world.size, 1_000_000))
        self.world.Iallgather(Fresh(), got).wait()
        self.assertTrue((got == np.arange(1e6) + 7).all())
        self.bcast(lambda r: (ctypes.c_int * 3)(r, 2, 3), [0, 2, 3])
        self.bcast(lambda r: (ctypes.c_int * 3 * 2)((r, 2, 3), (4, 5, 6)), [[0, 2, 3], [4, 5, 6]])  # type: ignore[misc]

    def test_nothing(self) -> None:
        self.bcast(lambda r: np.zeros(0), [])
        self.bcast(lambda r: np.zeros((3, 0))[::2], np.zeros((2, 0)))
        self.bcast(lambda r: np.array(float(r)), 0.0)

    def test_wrong_ones_are_said(self) -> None:
        data = np.zeros(6)
        fixed = np.zeros(3)
        fixed.flags.writeable = False

        def blocks(buffer: Any, count: int, place: int) -> Any:
            rest = [0] * (self.world.size - 1)
            return [buffer, [count, *rest], [place, *rest], [MPI.DOUBLE] * self.world.size]

        wrong: Wrong = [
            (TypeError, "buf: a buffer .* not float", lambda: self.world.Bcast(1.5, 0)),
            (ValueError, "recvbuf cannot be written.*read-only", lambda: self.world.Allreduce(np.zeros(3), fixed)),
            (ValueError, "sendbuf: the array has gaps", lambda: self.world.Allreduce(data[::2], np.zeros(3))),
            (ValueError, "recvbuf: .*counts or displacements for", lambda: self.world.Allgatherv(data, [data, [1] * 99])),
            (ValueError, "buf: 7 elements are more than the 6", lambda: self.world.Bcast([data, 7, MPI.DOUBLE], 0)),
            (ValueError, "buf: count = -1", lambda: self.world.Bcast([data, -1], 0)),
            (TypeError, "buf: its fourth item is no datatype", lambda: self.world.Bcast([data, 2, 0, np.float32], 0)),
            (TypeError, "recvbuf: its fourth item is no datatype", lambda: self.world.Allgatherv(data, [data, [0] * self.world.size, [0] * self.world.size, np.dtype("f4")])),
            (ValueError, "99 datatypes for", lambda: self.world.Alltoallw([data, [1] * 99, [0] * 99, [MPI.DOUBLE] * 99], [data, [1] * 99, [0] * 99, [MPI.DOUBLE] * 99])),
            (ValueError, "99 buffers for", lambda: self.world.Alltoallw([data] * 99, [data] * 99)),
            (ValueError, "buf: the displacement 7", lambda: self.world.Bcast([data, (1, 7), "d"], 0)),
            (ValueError, "buf: no datatype is called quux", lambda: self.world.Bcast([data, "quux"], 0)),
            (TypeError, "buf: .*objects of Python", lambda: self.world.Bcast(np.array([None, 1]), 0)),
            (TypeError, "buf: .*objects of Python", lambda: self.world.Bcast(np.zeros(2, [("a", "O"), ("b", "i4")]), 0)),
            (TypeError, "buf: .*another byte order", lambda: self.world.Bcast(np.zeros(2, ">i4"), 0)),
            (TypeError, "buf: an integer .* not 2.5", lambda: self.world.Bcast([data, 2.5, "d"], 0)),
            (TypeError, "recvbuf: an integer .* not 1180591620717411303424", lambda: self.world.Allgatherv(data, [data, [2**70] * self.world.size])),
            (ValueError, r"recvbuf: a tuple is \(counts, displacements\)", lambda: self.world.Allgatherv(data, [data, (1, 2, 3), "d"])),
            (ValueError, "buf: with a datatype .* without gaps", lambda: self.world.Bcast([OnlyDlpack(data[::2]), 3, "d"], 0)),
            (ValueError, "recvbuf: .* elements are more than the 4 that are there", lambda: self.world.Allgather(np.ones(1), [np.zeros(4), 2**62 + 1, MPI.DOUBLE])),
            (ValueError, "recvbuf: block 0, 2 elements at byte 0, is not within its 8 bytes", lambda: self.world.Alltoallw(blocks(data, 1, 0), blocks(data[:1], 2, 0))),
            (ValueError, "sendbuf: block 0, 1 elements at byte 1099511627776, is", lambda: self.world.Alltoallw(blocks(data, 1, 1 << 40), blocks(data, 1, 0))),
            (ValueError, "sendbuf: block 0, 1 elements at byte -8, is", lambda: self.world.Alltoallw(blocks(data, 1, -8), blocks(data, 1, 0))),
            (TypeError, "buf: the __dlpack__ of OnlyDlpack gives no array", lambda: self.world.Bcast(OnlyDlpack(None), 0)),
            (TypeError, "status: a status .* not Intracomm", lambda: self.world.Recv(data, 0, 0, MPI.COMM_WORLD)),  # type: ignore[arg-type]
            (wisp.Error, "empty|no member", lambda: self.world.range(1, 0).split("a")),
            (TypeError, "op: an operator .* not str", lambda: self.world.Allreduce(data, data.copy(), "sum")),  # type: ignore[arg-type]
            (TypeError, "comm: a communicator .* not int", lambda: wisp.Comm(3)),  # type: ignore[arg-type]
            (wisp.Error, "wisp.bcast: root = 99 is outside 0", lambda: self.world.Bcast(data, 99)),
            (wisp.Error, r"wisp.Comm.range: last = 99", lambda: self.world.range(0, 99)),
        ]  # fmt: skip
        if MPI_RETURNS_ERRORS:
            wrong += [
                (wisp.Error, "op: .* not define this operator", lambda: self.world.Allreduce(np.ones(3, "D"), np.ones(3, "D"), MPI.MAX)),
                (wisp.Error, "op: .* not define this operator", lambda: self.world.Allreduce(data, data.copy(), MPI.BAND)),
            ]  # fmt: skip
        for error, text, call in wrong:
            with self.assertRaisesRegex(error, text):
                call()
        with self.assertRaises(wisp.Error) as raised:
            self.world.Bcast(data, 99)
        self.assertEqual(raised.exception.error_class, MPI.ERR_ROOT)

    def test_a_device_needs_its_driver(self) -> None:
        class Numba:
            __cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (4096, False), "version": 3}

        with self.assertRaisesRegex(ValueError, "buf is on a device of CUDA, whose driver this process has not loaded"):
            self.world.Bcast(Numba(), 0)

    def test_what_dlpack_raises_is_the_cause(self) -> None:
        class NeedsGradient(OnlyDlpack):
            def __dlpack__(self, **named: Any) -> Any:
                raise BufferError("detach it first")

        with self.assertRaisesRegex(TypeError, "buf: the __dlpack__ of NeedsGradient gives no array") as raised:
            self.world.Bcast(NeedsGradient(np.zeros(3)), 0)
        self.assertEqual(repr(raised.exception.__cause__), "BufferError('detach it first')")
