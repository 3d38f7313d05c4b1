"""Elements of any dtype as rows of 64-bit words whose order as numbers is that of the elements."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Words = np.ndarray[Any, np.dtype[np.uint64]]

_TOP = np.uint64(1 << 63)


def is_number(dtype: "np.dtype[Any]") -> bool:
    """Whether elements of it are one word."""
    return dtype.kind in "biufmM" and dtype.itemsize <= 8


def _of_floats(array: Array) -> Words:
    with np.errstate(invalid="ignore"):  # of signaling NaN
        wide = array.astype(np.float64) + 0.0  # -0 is 0
    wide[np.isnan(wide)] = np.nan
    bits = wide.view(np.uint64)
    return np.where(bits & _TOP != 0, ~bits, bits | _TOP)


def of_numbers(array: Array) -> Words:
    """One word for each element. NaN and NaT come last."""
    array = np.ascontiguousarray(array)
    kind = array.dtype.kind
    if kind == "f":
        return _of_floats(array)
    if kind == "i":
        return array.astype(np.int64).view(np.uint64) ^ _TOP
    if kind in "mM":
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return (native.view(np.int64).view(np.uint64) ^ _TOP) - np.uint64(1)  # NaT is the least integer
    return array.astype(np.uint64)


def to_numbers(words: Words, dtype: "np.dtype[Any]") -> Array:
    """What the words were made of."""
    if dtype.kind == "f":
        return np.where(words & _TOP != 0, words ^ _TOP, ~words).view(np.float64).astype(dtype)
    if dtype.kind == "i":
        return (words ^ _TOP).view(np.int64).astype(dtype)
    if dtype.kind in "mM":
        native = dtype.newbyteorder("=")
        return ((words + np.uint64(1)) ^ _TOP).view(np.int64).view(native).astype(dtype, copy=False)
    return words.astype(dtype)


def _of_characters(array: Array, bits: int) -> Words:
    """Of fixed numbers of characters, so many of which are a word."""
    each = 64 // bits
    rows, columns = array.shape
    words = np.zeros((rows, -(-columns // each)), np.uint64)
    for i in range(columns):
        words[:, i // each] |= array[:, i].astype(np.uint64) << np.uint64(64 - bits * (i % each + 1))
    return words


def of(array: Array) -> Words:
    """An array of one dimension: a row of words for each element."""
    dtype = array.dtype
    rows = array.shape[0]
    if dtype.itemsize == 0:
        return np.zeros((rows, 0), np.uint64)
    if is_number(dtype):
        return of_numbers(array).reshape(rows, 1)
    if dtype.kind == "c" and dtype.itemsize <= 16:
        # NumPy's order: by the real part, then by the imaginary one; what has NaN in it last.
        is_nan = (np.isnan(array.real) | np.isnan(array.imag)).astype(np.uint64)
        return np.stack([is_nan, _of_floats(array.real), _of_floats(array.imag)], axis=1)
    if dtype.kind == "U":
        native = np.ascontiguousarray(array.astype(dtype.newbyteorder("=")))
        return _of_characters(native.view(np.uint32).reshape(rows, dtype.itemsize // 4), 32)
    if dtype.names is not None:
        columns = [np.zeros((rows, 0), np.uint64)]
        for name in dtype.names:
            field = array[name]
            field = field.reshape(rows, int(np.prod(field.shape[1:])))
            columns += [of(field[:, i]) for i in range(field.shape[1])]
        return np.concatenate(columns, axis=1)
    if dtype.kind in "SV":
        return _of_characters(np.ascontiguousarray(array).view(np.uint8).reshape(rows, dtype.itemsize), 8)
    raise TypeError(f"elements of {dtype} have no order that wisp knows")
