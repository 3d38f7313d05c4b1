"""What pip makes: a package for both MPIs that names no folder of the machine, and runs where it is put.

usage: wheel_test.py SOURCE PYTHON MPICXX=LIBRARY…, as in mpicxx.openmpi=/usr/lib/…/libmpi.so.40; Open MPI's first
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE, PYTHON, *MPIS = sys.argv[1:]
WRAPPERS = [mpi.partition("=")[0] for mpi in MPIS]
LIBRARIES = {mpi.partition("=")[0].rpartition(".")[2]: mpi.partition("=")[2] for mpi in MPIS}


def run(*command, **environment):
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, cwd=tempfile.gettempdir())
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.package = pathlib.Path(cls.folder.name, "wisp")
        settings = {"MPI_CXX_COMPILER": WRAPPERS[0], "MPI_C_COMPILER": WRAPPERS[0].replace("mpicxx", "mpicc"),
                    "WISP_PYTHON_ALSO": ";".join(WRAPPERS[1:]),
                    "CMAKE_CXX_FLAGS_RELEASE": "-O0 -DNDEBUG"}  # it is the package that is tested: the compiler need not try hard
        run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
            "--target", cls.folder.name, SOURCE, f"--config-settings=build-dir={cls.folder.name}/build",
            *(f"--config-settings=cmake.define.{name}={value}" for name, value in settings.items()))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_has_an_extension_for_each_mpi(self):
        extensions = {file.name.split(".")[0] for file in self.package.glob("_*.so")}
        self.assertEqual(extensions, {"_openmpi", "_mpich"} if len(WRAPPERS) > 1 else {"_openmpi"})
        self.assertTrue((self.package / "py.typed").exists() and (self.package / "_core.pyi").exists())

    def test_it_names_no_folder_of_the_machine(self):
        for file in self.package.rglob("*"):
            if file.is_file():
                for folder in (SOURCE, self.folder.name):
                    self.assertNotIn(folder.encode(), file.read_bytes(), file)

    def test_it_runs_on_the_mpi_that_mpi4py_has(self):
        for wrapper in WRAPPERS:
            kind = wrapper.rpartition(".")[2]
            library = LIBRARIES[kind]
            with tempfile.TemporaryDirectory() as names:  # that of MPICH is another on Debian
                pathlib.Path(names, "libmpi.so.12").symlink_to(library)
                path = {"LD_LIBRARY_PATH": names} if kind == "mpich" else {}
                said = run(PYTHON, "-m", "wisp", PYTHONPATH=self.folder.name, MPI4PY_MPIABI=kind,
                           MPI4PY_LIBMPI=library, **path)
            self.assertIn(f"extension _{kind}", said)
            self.assertIn("1 ranks on 1 nodes", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
