"""Sorting across ranks, and what else is done with an order. An array lies on all ranks, one part after the other."""

import zlib
from collections.abc import Callable
from operator import index
from typing import Any, Union, cast

import numpy as np
from mpi4py import MPI

from . import _keys
from ._core import Comm, Error, Request, _iargsort, _inth_element, _isearchsorted, _isort, _itop_k, _iunique
from ._keys import Array

AnyComm = Union[Comm, MPI.Comm, None]
Places = np.ndarray[Any, np.dtype[np.uint64]]


def _world(comm: AnyComm) -> Comm:
    if comm is None:
        return Comm(MPI.COMM_WORLD)
    if isinstance(comm, MPI.Comm):
        return Comm(comm)
    if not isinstance(comm, Comm):
        raise TypeError(f"comm: a wisp.Comm, or a communicator of mpi4py, is expected, not {type(comm).__name__}")
    return comm


def _signature(dtype: "np.dtype[Any]", rest: Any = ()) -> int:
    """Of what all ranks must have alike; strings may have any length."""
    return zlib.crc32(repr((dtype.str[:2] if dtype.kind in "SU" else dtype, rest)).encode()) + 1


def _agreed(call: str, array: Array, on: Comm, error: "Exception | None" = None, form: str = "") -> Array:
    """The array, with strings as long as the longest of any rank; raises on all ranks if one has an error, or if they
    have different elements, or `form`, which says what else they are."""
    signature = _signature(array.dtype, (array.shape[1:], form))
    told = np.array([signature, ~signature, array.dtype.itemsize, error is not None], np.int64)
    on.Allreduce(MPI.IN_PLACE, told, MPI.MAX)
    if error is not None:
        raise error
    if told[3]:
        raise Error(f"wisp.{call}: the arguments of another rank are wrong")
    if told[0] != ~told[1]:
        raise TypeError(f"wisp.{call}: ranks have different elements, here {array.dtype} in rows of {array.shape[1:]}{form}")
    if array.dtype.kind in "SU" and told[2] > array.dtype.itemsize:
        longest = int(told[2]) // (4 if array.dtype.kind == "U" else 1)
        return array.astype(f"{array.dtype.str[:2]}{longest}")
    return array


_ALGORITHMS = ("janus", "rquick", "merge")


def _flat(call: str, array: Any) -> Array:
    flat: Array = np.asarray(array)
    if flat.ndim != 1:
        raise ValueError(f"wisp.{call}: an array of one dimension is expected, not of {flat.ndim}")
    return flat


def _checked(call: str, on: Comm, check: Callable[[], Array], form_of: Callable[[Array], str] = lambda _: "") -> Array:
    """What `check` gives; where it or `form_of` that raises on one rank, all raise."""
    try:
        array = check()
        form = form_of(array)
    except Exception as error:
        return _agreed(call, np.zeros(0), on, error)
    return _agreed(call, array, on, form=form)


def _to_send(call: str, array: Any) -> Array:
    """Rows that go from rank to rank."""
    rows = np.ascontiguousarray(array)
    if rows.dtype.hasobject:
        raise TypeError(f"wisp.{call}: elements of {rows.dtype} are objects of Python, which do not go as they are")
    return rows


def _numbers(call: str, array: Any) -> Array:
    flat = _flat(call, array)
    if not _keys.is_number(flat.dtype):
        raise TypeError(f"wisp.{call}: numbers of up to 64 bits are expected, not {flat.dtype}")
    return flat


def _number_words(call: str, array: Any, on: Comm, place: "tuple[str, int]" = ("k", 0)) -> tuple[Array, _keys.Words]:
    def check() -> Array:
        if index(place[1]) < 0:
            raise ValueError(f"wisp.{call}: {place[0]} = {place[1]} is negative")
        if index(place[1]) >= 2**64:
            raise ValueError(f"wisp.{call}: {place[0]} = {place[1]} is more than a number of elements can be")
        return _numbers(call, array)

    agreed = _checked(call, on, check)
    return agreed, _keys.of_numbers(agreed)


def _is_sorted_as_it_is(dtype: "np.dtype[Any]") -> bool:
    return dtype.isnative and dtype.kind in "iuf" and dtype.itemsize <= 8 and dtype != np.float16


def _compared(call: str, flat: Array, order: "str | list[str] | None") -> Array:
    """What of an array its order looks at: of records the fields in `order` first."""
    if order is not None:
        if flat.dtype.names is None:
            raise ValueError(f"wisp.{call}: order = {order!r} is for records, not for {flat.dtype}")
        names = [order] if isinstance(order, str) else list(order)
        for name in names:
            if name not in flat.dtype.names:
                raise ValueError(f"wisp.{call}: order = {name!r} is none of {', '.join(flat.dtype.names)}")
        flat = flat[names + [name for name in flat.dtype.names if name not in names]]
    _keys.of(flat[:0])  # raises where there is no order
    return flat


def _places(array: Array, on: Comm) -> Places:
    """`argsort` of an array that all ranks have agreed on."""
    return _iargsort(on, np.ascontiguousarray(_keys.of(array))).wait()


def _ends(array: Array, on: Comm) -> Array:
    """Where the parts of ranks end, counted over all."""
    sizes = np.empty(on.size, np.int64)
    on.Allgather(np.array([len(array)], np.int64), sizes)
    return np.cumsum(sizes)


def _rows(array: Array, places: Array, ends: Array, on: Comm) -> Array:
    """`take` of an array that all ranks have agreed on, at places that there are."""
    array = np.ascontiguousarray(array)
    places = places.astype(np.int64)
    owners = np.searchsorted(ends, places, side="right")
    by_owner = np.argsort(owners, kind="stable")
    asked = np.bincount(owners, minlength=on.size).astype(np.int64)
    due = np.empty(on.size, np.int64)
    on.Alltoall(asked, due)
    wanted = np.empty(int(due.sum()), np.int64)
    on.Alltoallv([places[by_owner], asked], [wanted, due])
    row = array.dtype.itemsize * int(np.prod(array.shape[1:]))
    rows = np.ascontiguousarray(array[wanted - (ends[on.rank] - len(array))])
    came = np.empty((len(places), *array.shape[1:]), array.dtype)
    on.Alltoallv(
        [rows.view(np.uint8).reshape(-1) if row else b"", due * row],
        [came.reshape(-1).view(np.uint8) if row else bytearray(), asked * row],
    )
    result = np.empty_like(came)
    result[by_owner] = came
    return result


def isort(array: Any, comm: AnyComm = None, *, algorithm: str = "", stable: bool = False) -> "Request[Array]":
    """`sort` of numbers, started: the request gives the array."""
    array = _flat("isort", array)
    if not _is_sorted_as_it_is(array.dtype):
        raise TypeError(f"wisp.isort: integers, float32 or float64 are expected, not {array.dtype}")
    return _isort(_world(comm), np.ascontiguousarray(array), algorithm, stable, _signature(array.dtype))


def sort(array: Any, comm: AnyComm = None, *, order: "str | list[str] | None" = None, algorithm: str = "") -> Any:
    """Sorts what lies on all ranks: gives this rank's part, ⌊n/p⌋ or ⌈n/p⌉ of the n elements (the first n mod p ranks
    have one more), rank 0 the smallest.

    `array` is one-dimensional: numbers (NaN last), complex, bool, dates, strings of fixed length, or records, by all
    fields or those in `order`; what is equal stays in its order (but 0.0 beside -0.0). Or a pair (keys, values):
    gives both, sorted by keys; row i of values belongs to key i. O(α log p log n + β n/p) and O(n/p log n) local work."""
    on = _world(comm)
    is_pair = isinstance(array, tuple)
    belonging = np.zeros(0)

    def check() -> Array:
        nonlocal belonging
        keys = array
        if is_pair:
            keys, values = array
            belonging = _to_send("sort", values)
            if len(keys) != len(belonging):
                raise ValueError(f"wisp.sort: {len(keys)} keys and {len(belonging)} values")
        flat = _flat("sort", keys)
        if algorithm not in ("", *_ALGORITHMS):
            raise ValueError(f"wisp.sort: algorithm = {algorithm!r} is none of {', '.join(_ALGORITHMS)}")
        if algorithm and (is_pair or not _is_sorted_as_it_is(flat.dtype)):
            raise ValueError(f"wisp.sort: algorithm = {algorithm!r} is for integers, float32 and float64 alone")
        return flat

    def form_of(flat: Array) -> str:
        names = _compared("sort", flat, order).dtype.names
        return (f", by {names}" if names else "") + (", with values" if is_pair else "")

    array = _checked("sort", on, check, form_of)
    if is_pair:
        places = _places(_compared("sort", array, order), on)
        return _rows(array, places, _ends(array, on), on), take(belonging, places, on)
    if not _keys.is_number(array.dtype):
        return _rows(array, _places(_compared("sort", array, order), on), _ends(array, on), on)
    if _is_sorted_as_it_is(array.dtype):
        return _isort(on, np.ascontiguousarray(array), algorithm, False, 0).wait()
    if array.dtype.kind == "f":
        wide = array.astype(np.float32 if array.dtype.itemsize <= 4 else np.float64)  # nothing is lost: -0 stays -0
        return _isort(on, wide, "", False, 0).wait().astype(array.dtype)
    return _keys.to_numbers(_isort(on, _keys.of_numbers(array), "", False, 0).wait(), array.dtype)


def argsort(array: Any, comm: AnyComm = None, *, order: "str | list[str] | None" = None) -> Places:
    """The permutation that sorts: where, counted over all ranks, each element of this rank's part of the sorted array
    is before. Equal elements are in their order. `take` brings what lies there."""
    on = _world(comm)

    array = _checked("argsort", on, lambda: _compared("argsort", _flat("argsort", array), order))
    return _places(array, on)


def take(array: Any, places: Any, comm: AnyComm = None) -> Array:
    """The rows of an array (that lies on all ranks, one part after the other) at places counted over all ranks. Every
    rank asks for any. One exchange of places and one of rows, after an allgather and an alltoall of sizes."""
    on = _world(comm)
    wanted_places: Any = None

    def check() -> Array:
        nonlocal wanted_places
        wanted_places = np.asarray(places)
        if wanted_places.ndim != 1:
            raise ValueError(f"wisp.take: places of one dimension are expected, not of {wanted_places.ndim}")
        if wanted_places.size == 0:
            wanted_places = np.zeros(0, np.int64)
        if wanted_places.dtype.kind not in "iu":
            raise TypeError(f"wisp.take: places are integers, not {wanted_places.dtype}")
        return _to_send("take", array)

    array = _checked("take", on, check)
    ends = _ends(array, on)
    wrong = (wanted_places < 0) | (wanted_places >= ends[-1])
    is_wrong = np.array([wrong.any()], np.int32)
    on.Allreduce(MPI.IN_PLACE, is_wrong, MPI.MAX)
    if is_wrong[0]:
        what = f"{wanted_places[wrong][0]}" if wrong.any() else "one that another rank asks for"
        raise IndexError(f"wisp.take: place {what} is outside the array's 0..{ends[-1] - 1}")
    return _rows(array, wanted_places, ends, on)


def unique(array: Any, comm: AnyComm = None) -> Array:
    """The different elements of all ranks, sorted and balanced. Of numbers; NaN is equal to itself."""
    on = _world(comm)
    array, words = _number_words("unique", array, on)
    return _keys.to_numbers(_iunique(on, words).wait(), array.dtype)


def searchsorted(array: Any, values: Any, side: str = "left", comm: AnyComm = None) -> Places:
    """For each of this rank's values, how many elements of an array, sorted across ranks, are less than it (side
    "left") or not greater ("right"): where it belongs, counted over all ranks. Of numbers."""
    on = _world(comm)
    asked: Any = None

    def check() -> Array:
        nonlocal asked
        asked = np.asarray(values)
        if side not in ("left", "right"):
            raise ValueError(f"wisp.searchsorted: side = {side!r} is neither left nor right")
        _numbers("searchsorted", asked.reshape(-1))
        return _numbers("searchsorted", array)

    array = _checked("searchsorted", on, check, lambda _: f", side {side}")
    # Values are compared as what all of them, and the array, can be; a list without any says nothing.
    kinds = on.allgather(asked.dtype.str if asked.size else array.dtype.str)
    common = np.result_type(array.dtype, *map(np.dtype, kinds))
    words = [_keys.of_numbers(one.reshape(-1).astype(common)) for one in (array, asked)]
    places = _isearchsorted(on, words[0], words[1], side == "right").wait()
    return cast(Places, places.reshape(asked.shape))


def top_k(array: Any, k: int, comm: AnyComm = None) -> Array:
    """The k largest elements of all ranks (all, if there are not so many), the largest first, on every rank. Of
    numbers; NaN counts as the largest. O(n/p + α log p + βk) expected, without sorting."""
    on = _world(comm)
    array, words = _number_words("top_k", array, on, ("k", k))
    return _keys.to_numbers(_itop_k(on, words, k).wait(), array.dtype)


def nth_element(array: Any, n: int, comm: AnyComm = None) -> Any:
    """The element at place n (from 0) of the sorted array, on every rank. Of numbers. O(n/p + α log p) expected."""
    on = _world(comm)
    array, words = _number_words("nth_element", array, on, ("n", n))
    word = _inth_element(on, words, n).wait()
    return _keys.to_numbers(np.array([word], np.uint64), array.dtype)[0]
