"""Colors and keys as bytes whose order is that of the values.

Each begins with a letter for its kind, so that ranks may give values of different kinds: numbers come before texts,
texts before bytes, bytes before tuples.
"""

import struct
from operator import index
from typing import SupportsFloat, SupportsIndex, Union

import numpy as np

Label = Union[str, bytes, SupportsIndex, SupportsFloat, "tuple[Label, ...]"]


def _number(value: "SupportsIndex | SupportsFloat") -> bytes:
    """The nearest double, as an integer in its order, and for integers what is missing to it."""
    try:
        exact = index(value)  # type: ignore[arg-type]  # floats have none
    except TypeError:
        exact = None
    try:
        nearest = float(value) + 0.0  # -0 is 0
    except OverflowError as error:
        raise OverflowError("a color or key is an integer beyond all doubles") from error
    if nearest != nearest:
        return b"\xff" * 16  # NaN is equal to itself, and last
    bits = int.from_bytes(struct.pack(">d", nearest), "big")
    bits = bits ^ (1 << 64) - 1 if bits >> 63 else bits | 1 << 63
    missing = 0 if exact is None else exact - int(nearest)
    if abs(missing) >= 1 << 63:
        raise OverflowError(f"a color or key of {value}: integers have up to 100 bits")
    return bits.to_bytes(8, "big") + (missing + (1 << 63)).to_bytes(8, "big")


def _ended(text: bytes) -> bytes:
    """With an end that comes before whatever else may follow."""
    return text.replace(b"\0", b"\0\xff") + b"\0\0"


def ordered_bytes(value: Label) -> bytes:
    if isinstance(value, str):
        return b"s" + _ended(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return b"t" + _ended(bytes(value))
    if isinstance(value, tuple):
        return b"u" + b"".join(map(ordered_bytes, value)) + b"\0"
    is_number = hasattr(value, "__index__") or hasattr(value, "__float__")
    if is_number and not isinstance(value, (complex, np.complexfloating)):
        return b"n" + _number(value)
    raise TypeError(f"a color or key is an int, float, str, bytes or a tuple of them, not {type(value).__name__}")
