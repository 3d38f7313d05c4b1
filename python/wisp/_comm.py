"""What communicators and requests have beside the extension's methods: pickled objects, splits, await."""

import pickle
import struct
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import reduce as joined
from operator import index
from typing import Any

import numpy as np
from mpi4py import MPI

from ._core import Comm, Error, Request, _wait_any
from ._labels import Label, ordered_bytes

_SIZE = struct.Struct("q")
_FIRST = 512  # bytes of the first broadcast of an object
_FAILED = -1  # in the place of a size: this rank has nothing to send, and says why where it is


class _Pickled:
    """So many objects as bytes, or why they are none: the others are told before it is raised."""

    def __init__(self, call: str, objects: Any, count: int, wrong: "Exception | None" = None):
        self.call = call
        self.error = wrong
        try:
            if wrong is not None:
                raise wrong
            self.objects = list(objects)
            if len(self.objects) != count:
                raise ValueError(f"wisp.Comm.{call}: {len(self.objects)} objects for {count} ranks")
            self.blocks = [pickle.dumps(one, pickle.HIGHEST_PROTOCOL) for one in self.objects]
        except Exception as error:  # whatever the objects' own methods raise
            self.error = error
            self.blocks = [b""] * count

    def sizes(self) -> "np.ndarray[Any, np.dtype[np.int64]]":
        return np.array([_FAILED if self.error else len(block) for block in self.blocks], np.int64)

    def check(self, sizes: "np.ndarray[Any, np.dtype[np.int64]]", ranks: "Sequence[int] | None" = None) -> None:
        """Raises if this rank, or one of those whose sizes these are, has none."""
        if self.error:
            raise self.error
        failed = np.flatnonzero(sizes == _FAILED)
        if failed.size:
            rank = failed[0] if ranks is None else ranks[failed[0]]
            raise Error(f"wisp.Comm.{self.call}: rank {rank} has not what can be pickled and sent")


def _unpickled(data: Any, sizes: "np.ndarray[Any, np.dtype[np.int64]]") -> list[Any]:
    ends = np.cumsum(sizes)
    view = memoryview(data)
    return [pickle.loads(view[end - size : end]) for end, size in zip(ends.tolist(), sizes.tolist())]


def bcast(self: Comm, obj: Any = None, root: int = 0) -> Any:
    """The root's object, pickled, to all: a small one in one broadcast, a large one in two."""
    first = bytearray(_FIRST)
    data, error = b"", None
    if self.rank == root:
        try:
            data = pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)
            _SIZE.pack_into(first, 0, len(data))
        except Exception as raised:  # whatever the object's own methods raise
            error = raised
            _SIZE.pack_into(first, 0, _FAILED)
        begin = data[: _FIRST - _SIZE.size]
        first[_SIZE.size : _SIZE.size + len(begin)] = begin
    self.Bcast(first, root)
    (size,) = _SIZE.unpack_from(first)
    if error is not None:
        raise error
    if size == _FAILED:
        raise Error(f"wisp.Comm.bcast: rank {root} has not what can be pickled and sent")
    rest = size + _SIZE.size - _FIRST
    if rest <= 0:
        return obj if self.rank == root else pickle.loads(memoryview(first)[_SIZE.size : _SIZE.size + size])
    if self.rank == root:
        self.Bcast(memoryview(data)[-rest:], root)
        return obj
    whole = bytearray(_FIRST + rest)
    whole[:_FIRST] = first
    self.Bcast(memoryview(whole)[_FIRST:], root)
    return pickle.loads(memoryview(whole)[_SIZE.size :])


def _gathered(self: Comm, call: str, sendobj: Any, root: int, error: "Exception | None" = None) -> "list[Any] | None":
    pickled = _Pickled(call, [sendobj], 1, error)
    sizes = np.empty(self.size, np.int64)
    self.Allgather(pickled.sizes(), sizes)  # all must know if one has failed
    pickled.check(sizes)
    data = bytearray(int(sizes.sum())) if self.rank == root else None
    self.Gatherv(pickled.blocks[0], [data, sizes] if self.rank == root else None, root)
    return _unpickled(data, sizes) if self.rank == root else None


def _allgathered(self: Comm, call: str, sendobj: Any, error: "Exception | None" = None) -> list[Any]:
    pickled = _Pickled(call, [sendobj], 1, error)
    sizes = np.empty(self.size, np.int64)
    self.Allgather(pickled.sizes(), sizes)
    pickled.check(sizes)
    data = bytearray(int(sizes.sum()))
    self.Allgatherv(pickled.blocks[0], [data, sizes])
    return _unpickled(data, sizes)


def gather(self: Comm, sendobj: Any, root: int = 0) -> "list[Any] | None":
    """Everybody's object, pickled, in a list at the root."""
    return _gathered(self, "gather", sendobj, root)


def allgather(self: Comm, sendobj: Any) -> list[Any]:
    """Everybody's object, pickled, in a list on all ranks."""
    return _allgathered(self, "allgather", sendobj)


Join = Callable[[Any, Any], Any]


def _error_of(call: str, op: Join) -> "Exception | None":
    if callable(op):
        return None
    return TypeError(f"wisp.Comm.{call}: op: a function of two objects, or an operator of mpi4py, is expected, not {op!r}")


def reduce(self: Comm, sendobj: Any, op: Join = MPI.SUM, root: int = 0) -> Any:
    """op(op(first, second), third) … of everybody's object, pickled, in the order of the ranks, at the root."""
    objects = _gathered(self, "reduce", sendobj, root, _error_of("reduce", op))
    return None if objects is None else joined(op, objects)


def allreduce(self: Comm, sendobj: Any, op: Join = MPI.SUM) -> Any:
    """The same on all ranks, each of which calls op. 2 ⌈log2 p⌉ α + p nβ."""
    return joined(op, _allgathered(self, "allreduce", sendobj, _error_of("allreduce", op)))


def scan(self: Comm, sendobj: Any, op: Join = MPI.SUM) -> Any:
    """The same of ranks 0 … rank."""
    return joined(op, _allgathered(self, "scan", sendobj, _error_of("scan", op))[: self.rank + 1])


def exscan(self: Comm, sendobj: Any, op: Join = MPI.SUM) -> Any:
    """The same of ranks 0 … rank - 1; None on rank 0."""
    objects = _allgathered(self, "exscan", sendobj, _error_of("exscan", op))[: self.rank]
    return joined(op, objects) if objects else None


def scatter(self: Comm, sendobj: "Sequence[Any] | None" = None, root: int = 0) -> Any:
    """Object r of the root's list, pickled, to rank r."""
    is_root = self.rank == root
    pickled = _Pickled("scatter", sendobj if is_root else [], self.size if is_root else 0)
    sizes, size = pickled.sizes(), np.empty(1, np.int64)
    self.Scatter(sizes if is_root else None, size, root)
    pickled.check(size, [root])
    data = bytearray(int(size[0]))
    self.Scatterv([b"".join(pickled.blocks), sizes] if is_root else None, data, root)
    return pickled.objects[root] if is_root else pickle.loads(data)


def alltoall(self: Comm, sendobj: Sequence[Any]) -> list[Any]:
    """Object r, pickled, to rank r; gives a list of what came, by rank."""
    pickled = _Pickled("alltoall", sendobj, self.size)
    to, came = pickled.sizes(), np.empty(self.size, np.int64)
    self.Alltoall(to, came)
    pickled.check(came)
    data = bytearray(int(came.sum()))
    self.Alltoallv([b"".join(pickled.blocks), to], [data, came])
    return _unpickled(data, came)


def exchange(self: Comm, messages: Mapping[int, Any]) -> dict[int, Any]:
    """Objects, pickled, to any ranks, none of which knows who sends to it: gives what came, by its sender.

    Over a grid of k dimensions: k p^(1/k) o + k (α + nβ)."""
    error: Exception | None = None
    given: "list[tuple[Any, Any]]" = []
    try:
        if not isinstance(messages, Mapping):
            raise TypeError(f"wisp.Comm.exchange: a mapping of ranks to objects is expected, not {type(messages).__name__}")
        given = list(messages.items())
    except Exception as raised:  # whatever a mapping's own methods raise
        error = raised
    ranks = []
    for rank, _ in given:
        try:
            ranks.append(index(rank))
            if not 0 <= ranks[-1] < self.size:
                error = Error(f"wisp.Comm.exchange: rank {ranks[-1]} is outside 0..{self.size - 1}")
        except Exception as raised:
            error = raised if hasattr(rank, "__index__") else TypeError("wisp.Comm.exchange: ranks are integers")
    pickled = _Pickled("exchange", [value for _, value in given], len(given), error)
    # No pickle is empty: an empty block tells that there should have been one.
    blocks = pickled.blocks if pickled.error is None else [b""] * len(ranks)
    came = self._iexchange([(rank, block) for rank, block in zip(ranks, blocks) if 0 <= rank < self.size]).wait()
    pickled.check(np.array([_FAILED if not data else len(data) for _, data in came]), [rank for rank, _ in came])
    return {rank: pickle.loads(data) for rank, data in came}


def _check_status(status: Any) -> None:
    if status is not None and not isinstance(status, MPI.Status):
        raise TypeError(f"status: a status of mpi4py is expected, not {type(status).__name__}")


def _dumped(obj: Any) -> bytes:
    return pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)


def send(self: Comm, obj: Any, dest: int, tag: int = 0) -> None:
    """An object, pickled, to another rank, which receives it with recv."""
    self.Send(_dumped(obj), dest, tag)


def ssend(self: Comm, obj: Any, dest: int, tag: int = 0) -> None:
    """The same; it ends when the other has begun to receive it."""
    self.Ssend(_dumped(obj), dest, tag)


def isend(self: Comm, obj: Any, dest: int, tag: int = 0) -> "Request[Any]":
    """The same as send, started: the object may change at once."""
    return self.Isend(_dumped(obj), dest, tag)


def issend(self: Comm, obj: Any, dest: int, tag: int = 0) -> "Request[Any]":
    """The same as ssend, started."""
    return self.Issend(_dumped(obj), dest, tag)


def recv(
    self: Comm, buf: Any = None, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, status: "MPI.Status | None" = None
) -> Any:
    """An object that send has sent, of any size: `buf` is there for mpi4py's sake."""
    _check_status(status)
    return self._irecv(pickle.loads, source, tag).wait(status)


def irecv(self: Comm, buf: Any = None, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG) -> "Request[Any]":
    """The same, started: the request gives the object."""
    return self._irecv(pickle.loads, source, tag)


def sendrecv(
    self: Comm,
    sendobj: Any,
    dest: int,
    sendtag: int = 0,
    recvbuf: Any = None,
    source: int = MPI.ANY_SOURCE,
    recvtag: int = MPI.ANY_TAG,
    status: "MPI.Status | None" = None,
) -> Any:
    """Sends an object and receives one at once."""
    _check_status(status)
    self.Iprobe(source, recvtag)  # what is wrong with these is found before anything is sent
    sent = self.isend(sendobj, dest, sendtag)
    received = self.recv(None, source, recvtag, status)
    sent.wait()
    return received


def _pairs(comm: Comm, messages: "Mapping[int, Any] | Iterable[tuple[int, Any]]") -> list[tuple[int, Any]]:
    pairs = list(messages.items() if isinstance(messages, Mapping) else messages)
    for pair in pairs:
        if not (isinstance(pair, Sequence) and len(pair) == 2 and hasattr(pair[0], "__index__")):
            raise TypeError(f"messages: a pair of a rank and a buffer is expected, not {pair!r}")
        if index(pair[0]).bit_length() > 31:
            raise Error(f"wisp.exchange: destination = {pair[0]} is outside 0..{comm.size - 1}")
    return pairs


def Exchange(self: Comm, messages: "Mapping[int, Any] | Iterable[tuple[int, Any]]") -> list[tuple[int, bytes]]:
    """Buffers to any ranks, none of which knows who sends to it, several to one rank too: gives (source, bytes) for
    each that came, by source, those of a source in the order in which it gave them."""
    return self._iexchange(_pairs(self, messages)).wait()


def Iexchange(self: Comm, messages: "Mapping[int, Any] | Iterable[tuple[int, Any]]") -> "Request[list[tuple[int, bytes]]]":
    """The same, started."""
    return self._iexchange(_pairs(self, messages))


def _labels(color: "Label | None", key: Label) -> "tuple[bytes | None, bytes, Exception | None]":
    """A rank whose color or key is none is left out, so that the others go on, before it raises the error."""
    try:
        return None if color is None else ordered_bytes(color), ordered_bytes(key), None
    except Exception as error:
        return None, ordered_bytes(0), error


def split(self: Comm, color: "Label | None" = 0, key: Label = 0) -> Comm:
    """The ranks with this rank's color, by their keys, then by their ranks; empty where the color is None.

    Colors and keys are ints, floats, strs, bytes, or tuples of them. Their cost is that of texts: docs/splits.md."""
    color_bytes, key_bytes, error = _labels(color, key)
    made = self._split(color_bytes, key_bytes).wait()
    if error is not None:
        raise error
    return made


def Split(self: Comm, color: int = 0, key: int = 0) -> Comm:
    """As in mpi4py: a color of MPI.UNDEFINED leaves the rank out, whose communicator is empty."""
    try:
        is_left_out = index(color) == MPI.UNDEFINED
    except Exception:  # whatever it is: split takes part before it raises
        is_left_out = False
    return split(self, None if is_left_out else color, key)


def isplit(self: Comm, color: "Label | None" = 0, key: Label = 0) -> "Request[Comm]":
    """The same, started: the request gives the communicator."""
    color_bytes, key_bytes, error = _labels(color, key)
    request = self._split(color_bytes, key_bytes)
    if error is not None:
        raise error
    return request


def _await(self: "Request[Any]") -> Generator[Any, Any, Any]:
    if self._is_simulated:
        value, error = yield self
        if error is not None:
            raise error
        return value
    # To be asked again in each round of the event loop, whatever else it does: any number wait side by side.
    while self.active:
        value = self.test()
        if not self.active:
            return value
        yield
    return self.test()  # again what it gave


def wait_all(requests: "Iterable[Request[Any]]") -> list[Any]:
    """Waits for all, and gives what each gives."""
    return [request.wait() for request in requests]


def wait_any(requests: "Iterable[Request[Any]]") -> "tuple[int, Any] | None":
    """Waits for one that is active, and gives its index and what it gives; None if none is active."""
    return _wait_any(list(requests))


for _function in (
    bcast, gather, allgather, scatter, alltoall, exchange, reduce, allreduce, scan, exscan, send, ssend, isend, issend, recv,
    irecv, sendrecv, Exchange, Iexchange, split, isplit, Split,
):  # fmt: skip
    setattr(Comm, _function.__name__, _function)
for _name in ("barrier", "probe", "iprobe"):
    setattr(Comm, _name, getattr(Comm, _name.capitalize()))
setattr(Request, "__await__", _await)
setattr(Request, "Wait", Request.wait)
setattr(Request, "Test", Request.test)
setattr(Request, "Start", Request.start)
