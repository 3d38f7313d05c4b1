"""Arrays on a device, as CuPy, PyTorch and Numba give them. With the stand-in loaded (LD_PRELOAD), whose memory nobody may
touch but MPI and the driver."""

import ctypes
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI
from support import WispTest

ON_CUDA, ON_ROCM = 2, 10

stand_in = ctypes.CDLL(None)
stand_in.device_allocate.restype, stand_in.device_allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
stand_in.device_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


class DeviceArray:
    """With DLPack, as CuPy's and PyTorch's."""

    def __init__(self, array: Any, device: int = ON_CUDA):
        self.array, self.device = array, device
        self.shape, self.ndim, self.dtype, self.flags = array.shape, array.ndim, array.dtype, object()

    @classmethod
    def of(cls, values: Any) -> "DeviceArray":
        values = np.ascontiguousarray(values)
        address = stand_in.device_allocate(values.nbytes)
        stand_in.device_copy(address, values.ctypes.data, values.nbytes)
        memory = (ctypes.c_ubyte * values.nbytes).from_address(address)
        return cls(np.frombuffer(memory, values.dtype).reshape(values.shape))

    def get(self) -> Any:
        """Of an array without gaps."""
        values = np.empty(self.shape, self.dtype)
        stand_in.device_copy(values.ctypes.data, self.array.ctypes.data, values.nbytes)
        return values

    def __getitem__(self, cut: Any) -> "DeviceArray":
        return type(self)(self.array[cut])

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **named: Any) -> Any:
        capsule = self.array.__dlpack__()
        address = ctypes.pythonapi.PyCapsule_GetPointer
        address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        ctypes.c_int32.from_address(address(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)).value = self.device
        return capsule


class CudaArray(DeviceArray):
    """Without it, as Numba's."""

    __dlpack__ = __dlpack_device__ = property()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        is_whole = self.array.flags.c_contiguous
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.array.ctypes.data, not self.array.flags.writeable),
                "strides": None if is_whole else self.array.strides, "version": 3}  # fmt: skip


KINDS: "tuple[type[DeviceArray], ...]" = (DeviceArray, CudaArray)


class ArraysTest(WispTest):
    def test_collectives(self) -> None:
        p, rank = self.world.size, self.world.rank
        for kind in KINDS:
            for dtype in ("f8", "i4", "u2", "c8"):
                mine = kind.of((np.arange(6) * (rank + 1)).astype(dtype))
                result = kind.of(np.zeros(6, dtype))
                self.world.Allreduce(mine, result)
                np.testing.assert_array_equal(result.get(), np.arange(6) * (p * (p + 1) // 2))
                self.world.Ibcast(result if rank == 0 else mine, 0).wait()
                np.testing.assert_array_equal((result if rank == 0 else mine).get(), np.arange(6) * (p * (p + 1) // 2))
                on_host = np.zeros((p, 6), dtype)
                self.world.Allgather(result, on_host)
                np.testing.assert_array_equal(on_host, np.tile(result.get(), (p, 1)))
                self.world.Bcast([mine, 3, MPI.BYTE], 0)

    def test_gaps(self) -> None:
        for kind in KINDS:
            table = kind.of(np.full((4, 5), float(self.world.rank)))
            self.world.Bcast(table[:, 3], 0)
            expected = np.full((4, 5), float(self.world.rank))
            expected[:, 3] = 0
            np.testing.assert_array_equal(table.get(), expected)

    def test_messages(self) -> None:
        p, rank = self.world.size, self.world.rank
        for kind in KINDS:
            came = kind.of(np.zeros(3))
            received = self.world.Irecv(came, (rank - 1) % p, 5)
            self.world.Send(kind.of(np.full(3, float(rank))), (rank + 1) % p, 5)
            received.wait()
            np.testing.assert_array_equal(came.get(), np.full(3, float((rank - 1) % p)))

    def test_halo(self) -> None:
        neighborhood = wisp.Neighborhood(self.world, [0])
        for kind in KINDS:
            array = kind.of(np.full((5, 2), float(self.world.rank)))
            neighborhood.halo(array, 1).exchange()  # type: ignore[arg-type]
            p, rank = self.world.size, self.world.rank
            np.testing.assert_array_equal(array.get()[:, 0], [(rank - 1) % p, rank, rank, rank, (rank + 1) % p])

    def test_wrong_ones(self) -> None:
        fixed = np.zeros(3)
        fixed.flags.writeable = False
        wrong: list[tuple[type[Exception], str, Any]] = [
            (ValueError, "buf is in memory that neither", DeviceArray(np.zeros(3), ON_ROCM)),
            (ValueError, "buf cannot be written", CudaArray(fixed)),
            (TypeError, "buf: its numbers have another byte order", CudaArray(np.zeros(3, ">f8"))),
            (ValueError, "buf: with a datatype .* without gaps", [CudaArray(np.zeros(6)[::2]), 1, MPI.DOUBLE]),
        ]
        for error, text, array in wrong:
            with self.assertRaisesRegex(error, text):
                self.world.Recv(array, 0)

