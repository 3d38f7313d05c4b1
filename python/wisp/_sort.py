"""Sorting across ranks, and what else is done with an order. An array lies on all ranks, one part after the other."""

from typing import Any, cast

import numpy as np
from mpi4py import MPI

from . import _keys
from ._core import Comm, Request, _iargsort, _inth_element, _isearchsorted, _isort, _itop_k, _iunique
from ._keys import Array

Places = np.ndarray[Any, np.dtype[np.uint64]]


def _world(comm: "Comm | None") -> Comm:
    return Comm(MPI.COMM_WORLD) if comm is None else comm


def _flat(call: str, array: Any) -> Array:
    flat: Array = np.asarray(array)
    if flat.ndim != 1:
        raise ValueError(f"wisp.{call}: an array of one dimension is expected, not of {flat.ndim}")
    return flat


def _number_words(call: str, array: Any) -> tuple[Array, _keys.Words]:
    array = _flat(call, array)
    if not _keys.is_number(array.dtype):
        raise TypeError(f"wisp.{call}: numbers of up to 64 bits are expected, not {array.dtype}")
    return array, _keys.of_numbers(array)


def _is_sorted_as_it_is(dtype: "np.dtype[Any]") -> bool:
    return dtype.isnative and dtype.kind in "iuf" and dtype.itemsize <= 8 and dtype != np.float16


def isort(array: Any, comm: "Comm | None" = None, *, algorithm: str = "", stable: bool = False) -> "Request[Array]":
    """`sort` of numbers, started: the request gives the array."""
    array = _flat("isort", array)
    if not _is_sorted_as_it_is(array.dtype):
        raise TypeError(f"wisp.isort: integers, float32 or float64 are expected, not {array.dtype}")
    return _isort(_world(comm), np.ascontiguousarray(array), algorithm, stable)


def sort(array: Any, comm: "Comm | None" = None, *, order: "str | list[str] | None" = None, algorithm: str = "") -> Any:
    """Sorts what lies on all ranks: gives this rank's part, ⌊n/p⌋ or ⌈n/p⌉ of the n elements (the first n mod p ranks
    have one more), rank 0 the smallest.

    `array` is one-dimensional: numbers (NaN last), complex, bool, dates, strings of fixed length, or records, by all
    fields or those in `order`; what is equal stays in its order. Or a pair (keys, values): gives both, sorted by keys;
    row i of values belongs to key i. O(α log p log n + β n/p) and O(n/p log n) local work."""
    if isinstance(array, tuple):
        keys, values = array
        if len(keys) != len(values):
            raise ValueError(f"wisp.sort: {len(keys)} keys and {len(values)} values")
        places = argsort(keys, comm, order=order)
        return take(keys, places, comm), take(values, places, comm)
    array = _flat("sort", array)
    if _is_sorted_as_it_is(array.dtype):
        return isort(array, comm, algorithm=algorithm).wait()
    if algorithm:
        raise ValueError(f"wisp.sort: algorithm = {algorithm!r} is for integers, float32 and float64")
    if _keys.is_number(array.dtype):
        return _keys.to_numbers(_isort(_world(comm), _keys.of_numbers(array), "", False).wait(), array.dtype)
    return take(array, argsort(array, comm, order=order), comm)


def argsort(array: Any, comm: "Comm | None" = None, *, order: "str | list[str] | None" = None) -> Places:
    """The permutation that sorts: where, counted over all ranks, each element of this rank's part of the sorted array
    is before. Equal elements are in their order. `take` brings what lies there."""
    array = _flat("argsort", array)
    if order is not None:
        names = [order] if isinstance(order, str) else list(order)
        rest = [name for name in array.dtype.names or () if name not in names]
        array = array[names + rest]
    return _iargsort(_world(comm), np.ascontiguousarray(_keys.of(array))).wait()


def take(array: Any, places: Any, comm: "Comm | None" = None) -> Array:
    """The rows of an array (that lies on all ranks, one part after the other) at places counted over all ranks. Every
    rank asks for any. Two exchanges: of places and of rows."""
    on = _world(comm)
    array = np.ascontiguousarray(array)
    places = np.asarray(places, np.uint64).astype(np.int64)
    sizes = np.empty(on.size, np.int64)
    on.Allgather(np.array([len(array)], np.int64), sizes)
    ends = np.cumsum(sizes)
    wrong = (places < 0) | (places >= ends[-1])
    is_wrong = np.array([wrong.any()], np.int32)
    on.Allreduce(MPI.IN_PLACE, is_wrong, MPI.MAX)
    if is_wrong[0]:
        what = f"{places[wrong][0]}" if wrong.any() else "one that another rank asks for"
        raise IndexError(f"wisp.take: place {what} is outside the array's 0..{ends[-1] - 1}")
    owners = np.searchsorted(ends, places, side="right")
    by_owner = np.argsort(owners, kind="stable")
    asked = np.bincount(owners, minlength=on.size).astype(np.int64)
    due = np.empty(on.size, np.int64)
    on.Alltoall(asked, due)
    wanted = np.empty(int(due.sum()), np.int64)
    on.Alltoallv([places[by_owner], asked], [wanted, due])
    row = array.dtype.itemsize * int(np.prod(array.shape[1:]))
    rows = np.ascontiguousarray(array[wanted - (ends[on.rank] - sizes[on.rank])])
    came = np.empty((len(places), *array.shape[1:]), array.dtype)
    on.Alltoallv(
        [rows.view(np.uint8).reshape(-1) if row else b"", due * row],
        [came.reshape(-1).view(np.uint8) if row else bytearray(), asked * row],
    )
    result = np.empty_like(came)
    result[by_owner] = came
    return result


def unique(array: Any, comm: "Comm | None" = None) -> Array:
    """The different elements of all ranks, sorted and balanced. Of numbers; NaN is equal to itself."""
    array, words = _number_words("unique", array)
    return _keys.to_numbers(_iunique(_world(comm), words).wait(), array.dtype)


def searchsorted(array: Any, values: Any, side: str = "left", comm: "Comm | None" = None) -> Places:
    """For each of this rank's values, how many elements of an array, sorted across ranks, are less than it (side
    "left") or not greater ("right"): where it belongs, counted over all ranks. Of numbers."""
    if side not in ("left", "right"):
        raise ValueError(f"wisp.searchsorted: side = {side!r} is neither left nor right")
    array, words = _number_words("searchsorted", array)
    asked = np.asarray(values)
    if asked.dtype != array.dtype:
        common = np.result_type(asked.dtype, array.dtype)
        array, asked = array.astype(common), asked.astype(common)
        words = _number_words("searchsorted", array)[1]
    of_values = _number_words("searchsorted", asked.reshape(-1))[1]
    places = _isearchsorted(_world(comm), words, of_values, side == "right").wait()
    return cast(Places, places.reshape(asked.shape))


def top_k(array: Any, k: int, comm: "Comm | None" = None) -> Array:
    """The k largest elements of all ranks (all, if there are not so many), the largest first, on every rank. Of
    numbers; NaN counts as the largest. O(n/p + α log p + βk) expected, without sorting."""
    array, words = _number_words("top_k", array)
    return _keys.to_numbers(_itop_k(_world(comm), words, k).wait(), array.dtype)


def nth_element(array: Any, n: int, comm: "Comm | None" = None) -> Any:
    """The element at place n (from 0) of the sorted array, on every rank. Of numbers. O(n/p + α log p) expected."""
    array, words = _number_words("nth_element", array)
    word = _inth_element(_world(comm), words, n).wait()
    return _keys.to_numbers(np.array([word], np.uint64), array.dtype)[0]
