"""The package itself: what the stub says is there, and what is there is in the stub."""

import ast
import os
import subprocess
import sys
import unittest
from pathlib import Path

import wisp
from mpi4py import MPI
from wisp import _core


class PackageTest(unittest.TestCase):
    def test_the_stub_says_what_there_is(self) -> None:
        stub = ast.parse((Path(wisp.__file__).parent / "_core.pyi").read_text())
        for declared in stub.body:
            if isinstance(declared, ast.ClassDef) and declared.name != "Error":
                names = {one.name for one in declared.body if isinstance(one, ast.FunctionDef)}
                there = {name for name in vars(getattr(_core, declared.name)) if not name.startswith("__")}
                self.assertEqual({name for name in names if not name.startswith("__")}, there, declared.name)
            elif isinstance(declared, ast.FunctionDef):
                self.assertTrue(callable(getattr(_core, declared.name)), declared.name)

    def test_everything_has_a_text(self) -> None:
        for name in wisp.__all__:
            self.assertTrue(getattr(wisp, name).__doc__, name)
        for of in (wisp.Comm, wisp.Request, wisp.Neighborhood):
            for name, member in vars(of).items():
                if not name.startswith("_") and callable(member):
                    self.assertTrue(member.__doc__, f"{of}.{name}")

    @unittest.skipIf(MPI.COMM_WORLD.rank > 0, "one rank looks")
    def test_types(self) -> None:
        try:
            import mypy  # noqa: F401
        except ImportError:
            self.skipTest("there is no mypy")
        tests = Path(__file__).parent
        package = Path(wisp.__file__).resolve().parent
        environment = {**os.environ, "MYPYPATH": f"{package.parent}:{tests}"}
        modules = [argument for file in sorted(tests.glob("*.py")) for argument in ("-m", file.stem)]
        result = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "-p", "wisp", *modules],
                                capture_output=True, text=True, env=environment, cwd=tests)  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    @unittest.skipIf(MPI.COMM_WORLD.size > 1, "one rank asks")
    def test_it_says_what_it_runs_on(self) -> None:
        alone = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "MPIR", "HYDR"))}
        said = subprocess.run([sys.executable, "-m", "wisp"], capture_output=True, text=True, check=True, env=alone).stdout
        self.assertIn(f"wisp {wisp.__version__}", said)
        self.assertIn("1 ranks on 1 nodes", said)

    @unittest.skipIf(MPI.COMM_WORLD.size > 1, "one rank asks")
    def test_a_thread_that_waits_does_not_outlive_the_program(self) -> None:
        program = """
import threading, time, numpy as np, wisp
from mpi4py import MPI
comm = wisp.Comm(MPI.COMM_WORLD).Dup()
threading.Thread(target=lambda: comm.Recv(np.zeros(1), 0, 5), daemon=True).start()
time.sleep(0.2)
print("main ends")
"""
        alone = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "MPIR", "HYDR"))}
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=alone, timeout=60)
        self.assertEqual((ended.returncode, ended.stdout), (0, "main ends\n"), ended.stderr)
