"""Runs the tests of this folder on all ranks: rank 0 tells what it does, others only what fails; a test that fails on one
rank ends all, for the others may wait for it.

usage: main.py [NAME…], as of unittest: test_sort, test_sort.SortTest.test_stable
"""

import sys
import traceback
import unittest
from pathlib import Path
from typing import Any

import after_finalize
from mpi4py import MPI

import wisp

HERE = Path(__file__).parent


class Result(unittest.TextTestResult):
    def _end(self, test: unittest.TestCase, error: Any) -> None:
        rank = MPI.COMM_WORLD.rank
        text = "".join(traceback.format_exception(*error))
        print(f"\nrank {rank} of {MPI.COMM_WORLD.size}, {test}:\n{text}", file=sys.stderr, flush=True)
        if MPI.COMM_WORLD.size > 1:
            print(f"{test} ... FAIL", file=sys.stderr, flush=True)
            MPI.COMM_WORLD.Abort(1)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._end(test, err)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._end(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._end(subtest, err)


loader = unittest.TestLoader()
sys.path.insert(0, str(HERE))
suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(str(HERE))
runner = unittest.TextTestRunner(verbosity=2 if MPI.COMM_WORLD.rank == 0 else 0, resultclass=Result)  # type: ignore[arg-type]
comm = wisp.Comm(MPI.COMM_WORLD)
if not runner.run(suite).wasSuccessful():
    sys.exit(1)
after_finalize.check(comm)
