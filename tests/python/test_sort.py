"""What is sorted, beside NumPy's result on all of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI
from support import Array, WispTest, Wrong

RECORD = np.dtype([("name", "S3"), ("x", "f4"), ("y", "i2")])
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?", "F", "D", "M8[s]", "m8[ms]", "S1", "S9",
          "S100", "U1", "U5", "V3", ">i4", ">f8", RECORD]  # fmt: skip


def random_array(dtype: Any, size: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.names:
        made = np.zeros(size, dtype)
        for name in dtype.names:
            base, shape = dtype[name].subdtype or (dtype[name], ())
            made[name] = random_array(base, size * int(np.prod(shape)), seed + len(name)).reshape(size, *shape)
        return made
    if dtype.kind in "SU":
        return np.array(["".join(chr(97 + c) for c in rng.integers(0, 3, n)) for n in rng.integers(0, 6, size)] or [""]).astype(dtype)[:size]
    if dtype.kind == "V":
        return np.frombuffer(rng.integers(0, 2, size * dtype.itemsize, np.uint8).tobytes(), dtype)
    values = rng.integers(-50, 50, size)
    if dtype.kind in "fc":
        special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])
        floats = np.where(rng.random(size) < 0.2, special[rng.integers(0, 5, size)], values / 4)
        return (floats + (1j * values if dtype.kind == "c" else 0)).astype(dtype)
    if dtype.kind in "mM":
        made = values.astype(dtype)
        made[rng.random(size) < 0.1] = "NaT"
        return made
    return (values if dtype.kind in "i" else np.abs(values)).astype(dtype)


class SortTest(WispTest):
    def sizes(self) -> "list[int]":
        """Of this rank: some, none, on one rank only, few."""
        p, r = self.world.size, self.world.rank
        return [20 + 7 * r, 0, 50 if r == p - 1 else 0, 1 if r % 2 else 0, 40]

    def whole(self, part: Array) -> Array:
        return np.concatenate(self.world.allgather(part)).astype(part.dtype, copy=False)

    def assert_balanced(self, part: Array, n: int) -> None:
        p, r = self.world.size, self.world.rank
        self.assertEqual(len(part), n // p + (r < n % p))

    def assert_alike(self, got: Array, expected: Array) -> None:
        self.assertEqual(got.dtype, expected.dtype)
        if got.dtype.kind in "fc":
            self.assertTrue(np.array_equal(got, expected, equal_nan=True), (got, expected))
        else:
            self.assertEqual(got.tobytes(), expected.tobytes())

    def test_sort_argsort_take(self) -> None:
        for dtype in DTYPES:
            for size in self.sizes():
                with self.subTest(dtype=dtype, size=size):
                    part = random_array(dtype, size, self.world.rank)
                    whole = self.whole(part)
                    if whole.dtype.kind == "V" and not whole.dtype.names:
                        order = np.array(sorted(range(len(whole)), key=lambda i: whole[i].tobytes()), int)
                    else:
                        order = np.argsort(whole, kind="stable")
                    places = wisp.argsort(part)
                    self.assert_balanced(places, len(whole))
                    self.assert_same(self.whole(places), order)
                    got = wisp.sort(part)
                    self.assert_balanced(got, len(whole))
                    self.assert_alike(self.whole(got), whole[order])
                    self.assert_alike(wisp.take(part, places), whole[places.astype(int)])

    def test_on_a_communicator_of_mpi4py(self) -> None:
        p, r = self.world.size, self.world.rank
        mpi = MPI.COMM_WORLD.Split(0, -r)
        got = wisp.sort(np.array([2 * r, 2 * r + 1]), mpi)
        self.assert_same(got, np.arange(2) + 2 * (p - 1 - r))
        mpi.Free()

    def test_negative_zeros_stay(self) -> None:
        for dtype in ("f2", "f4", "f8", ">f2", ">f8"):
            part = np.array([0.0, -0.0, 1.0, -1.0, -0.0][self.world.rank % 3 :], dtype)
            count = sum(self.world.allgather(int(np.signbit(part).sum())))
            got = wisp.sort(part)
            self.assertEqual(sum(self.world.allgather(int(np.signbit(got).sum()))), count, dtype)

    def test_by_fields_and_pairs(self) -> None:
        part = random_array(RECORD, 30, self.world.rank)
        whole = self.whole(part)
        for fields in ("x", ["name", "x"]):
            self.assert_alike(self.whole(wisp.sort(part, order=fields)), np.sort(whole, order=fields, kind="stable"))
        keys = np.random.default_rng(self.world.rank).integers(0, 9, 25)
        values = np.arange(75).reshape(25, 3) + 1000 * self.world.rank
        got_keys, got_values = wisp.sort((keys, values))
        order = np.argsort(self.whole(keys), kind="stable")
        self.assert_same(self.whole(got_keys), self.whole(keys)[order])
        self.assert_same(self.whole(got_values), self.whole(values)[order])

    def test_arrays_in_records_are_ordered_by_their_elements(self) -> None:
        part = np.zeros(30, [("at", "i2", (2, 2))])
        part["at"] = np.random.default_rng(self.world.rank).integers(-2, 2, (30, 2, 2))
        whole = self.whole(part)
        order = np.lexsort(whole["at"].reshape(-1, 4).T[::-1])
        self.assert_same(self.whole(wisp.argsort(part)), order)
        self.assertEqual(len(wisp.sort(part[:0])), 0)

    def test_texts_of_no_length(self) -> None:
        part = np.zeros(3 if self.world.rank == 0 else 0, [("a", "S0"), ("b", "i4")])
        part["b"] = -np.arange(len(part))
        self.assertEqual(self.whole(wisp.sort(part))["b"].tolist(), [-2, -1, 0])

    def test_algorithms(self) -> None:
        part = np.random.default_rng(self.world.rank).random(500)
        for algorithm in ("janus", "rquick", "merge", ""):
            self.assert_same(self.whole(wisp.sort(part, algorithm=algorithm)), np.sort(self.whole(part)))
        requests = [wisp.isort(part * i) for i in (1, 2)]
        self.assert_same(self.whole(requests[1].wait()), np.sort(self.whole(part)) * 2)
        requests[0].wait()

    def test_what_is_asked_of_an_order(self) -> None:
        for dtype in ["i1", "u8", "f2", "f4", "f8", "?", "M8[D]", ">i2"]:
            for size in self.sizes()[:1] + self.sizes()[3:]:
                part = random_array(dtype, size, self.world.rank)
                whole = np.sort(self.whole(part))
                unique = wisp.unique(part)
                expected = np.unique(whole)
                self.assert_balanced(unique, len(expected))
                self.assert_alike(self.whole(unique), expected)
                self.assert_alike(wisp.top_k(part, 7), whole[::-1][:7])
                if len(whole):
                    n = len(whole) // 3
                    self.assert_alike(np.array([wisp.nth_element(part, n)], part.dtype), whole[n : n + 1])
                ordered = wisp.sort(part)
                values = random_array(dtype, 5, 99 + self.world.rank)
                for side in ("left", "right"):
                    if not (values.dtype.kind == "f" and np.isnan(values).any()):
                        self.assert_same(wisp.searchsorted(ordered, values, side), np.searchsorted(whole, values, side))

    def test_all_hear_of_elements_that_differ(self) -> None:
        p, r = self.world.size, self.world.rank
        if p > 1:
            mixed = np.zeros(3, "i8" if r == 0 else "f8")
            calls: list[Callable[[], Any]] = [
                lambda: wisp.sort(mixed), lambda: wisp.argsort(mixed), lambda: wisp.unique(mixed), lambda: wisp.top_k(mixed, 1),
                lambda: wisp.nth_element(mixed, 0), lambda: wisp.take(mixed, [0]), lambda: wisp.searchsorted(mixed, 1),
                lambda: wisp.take(np.zeros((3, 1 + r % 2)), [0]), lambda: wisp.sort(np.zeros(3, "S2" if r else "i4")),
                lambda: wisp.sort(([1, 2], [1, 2]) if r else [1, 2]), lambda: wisp.sort(np.zeros(3, RECORD), order="x" if r else "name"),
                lambda: wisp.searchsorted(np.zeros(3), 1, "right" if r else "left")]  # fmt: skip
            for call in calls:
                with self.assertRaisesRegex(TypeError, "ranks have different elements"):
                    call()
            one: list[Callable[[bool], Any]] = [
                lambda bad: wisp.sort(np.array([None]) if bad else np.zeros(1)), lambda bad: wisp.argsort(np.zeros((2, 2) if bad else 2)),
                lambda bad: wisp.unique(np.array(["a"]) if bad else np.zeros(1)), lambda bad: wisp.top_k(np.zeros(1), -1 if bad else 1),
                lambda bad: wisp.sort((np.zeros(3 if bad else 2), np.zeros(2))), lambda bad: wisp.take(np.zeros(2), ["x"] if bad else [0]),
                lambda bad: wisp.searchsorted(np.zeros(2), ["x"] if bad else [1.0])]  # fmt: skip
            for call_with in one:
                with self.assertRaises((ValueError, TypeError, wisp.Error)):
                    call_with(r == p - 1)
            self.assertEqual(len(wisp.take(np.zeros(2), [])), 0)
            with self.assertRaisesRegex(wisp.Error, "different types"):
                wisp.isort(mixed).wait()
            with self.assertRaises((TypeError, wisp.Error)):
                wisp.take(np.zeros(2), [0.5] if r == 0 else [0])
        self.assertEqual(self.world.allgather(r), list(range(p)))

    def test_strings_of_other_lengths_on_each_rank(self) -> None:
        for kind in "SU":
            part = np.array(["x" * (self.world.rank * 3 + 1), "a", "y"]).astype(kind)
            got = self.whole(wisp.sort(part))
            self.assertEqual(got.tolist(), sorted(sum(self.world.allgather(part.tolist()), [])))

    def test_values_of_other_types_than_the_array(self) -> None:
        ordered = np.arange(4) + 4 * self.world.rank
        values = [2.5] if self.world.rank == 0 else [2, 5]
        self.assert_same(wisp.searchsorted(ordered, values), np.searchsorted(self.whole(ordered), values))

    def test_a_rank_without_values_changes_no_others(self) -> None:
        ordered = np.arange(2**53, 2**53 + 4) if self.world.rank == 0 else np.zeros(0, np.int64)
        values = [2**53 + 1] if self.world.rank == 0 else []
        self.assertEqual(wisp.searchsorted(ordered, values).tolist(), [1] if values else [])

    def test_wrong_ones_are_said(self) -> None:
        wrong: Wrong = [
            (ValueError, "wisp.sort: an array of one dimension", lambda: wisp.sort(np.zeros((2, 2)))),
            (TypeError, "object have no order", lambda: wisp.sort(np.array([None]))),
            (ValueError, "2 keys and 3 values", lambda: wisp.sort((np.zeros(2), np.zeros(3)))),
            (ValueError, "algorithm = .?bogo", lambda: wisp.sort(np.zeros(2), algorithm="bogo")),
            (TypeError, "wisp.top_k: numbers", lambda: wisp.top_k(np.array(["a"]), 1)),
            (IndexError, "place 99999 is outside", lambda: wisp.take(np.zeros(2), [99999])),
            (wisp.Error, "n = 99999 is no place", lambda: wisp.nth_element(np.zeros(2), 99999)),
            (ValueError, "order = 'x' is for records", lambda: wisp.sort(np.zeros(2), order="x")),
            (ValueError, "order = 'x' is for records", lambda: wisp.argsort(np.zeros(2), order="x")),
            (ValueError, "algorithm = 'merge' is for", lambda: wisp.sort((np.zeros(2), np.zeros(2)), algorithm="merge")),
            (TypeError, "places are integers, not float64", lambda: wisp.take(np.zeros(2), [1.5])),
            (ValueError, "places of one dimension", lambda: wisp.take(np.zeros(2), [[1]])),
            (IndexError, "place -1 is outside", lambda: wisp.take(np.zeros(2), [-1])),
            (ValueError, "k = -1 is negative", lambda: wisp.top_k(np.zeros(2), -1)),
            (TypeError, "comm: a wisp.Comm", lambda: wisp.sort(np.zeros(2), 3)),  # type: ignore[arg-type]
            (ValueError, "side = 'up'", lambda: wisp.searchsorted(np.zeros(2), 1, "up")),
        ]  # fmt: skip
        for error, text, call in wrong:
            with self.assertRaisesRegex(error, text):
                call()

    def test_what_is_wrong_on_one_rank_is_an_error_on_all(self) -> None:
        data: Any = np.zeros(2)
        is_wrong = self.world.rank == self.world.size - 1
        calls: list[Callable[[], Any]] = [
            lambda: wisp.sort(data, algorithm="bogo" if is_wrong else "merge"),
            lambda: wisp.sort((data, [[1], [1, 2]] if is_wrong else data)),
            lambda: wisp.sort((data, data, data) if is_wrong else (data, data)),
            lambda: wisp.take(data, [[0], [0, 1]] if is_wrong else [0]),
            lambda: wisp.searchsorted(data, [[1], [1, 2]] if is_wrong else [1]),
            lambda: wisp.top_k(data, 2**64 if is_wrong else 1),
            lambda: wisp.nth_element(data, 10**6 if is_wrong else 0),
        ]
        for call in calls:
            with self.assertRaises((ValueError, wisp.Error)):
                call()
        objects = np.array([None, 1]) if is_wrong else data
        for call in (lambda: wisp.take(objects, [0]), lambda: wisp.sort((data, objects))):
            with self.assertRaises(TypeError if is_wrong else wisp.Error):
                call()
