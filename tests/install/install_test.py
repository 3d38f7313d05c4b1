"""What is installed works after it was moved to another folder: for CMake, pkg-config, C++, C and Fortran.

usage: install_test.py BUILD MPICC MPICXX MPIRUN…
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

BUILD, MPICC, MPICXX, MPIRUN = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
FC = MPICXX.replace("mpicxx", "mpif90")
IS_QUICK = "WISP_TEST_QUICK" in os.environ
if shutil.which("ninja"):
    os.environ.setdefault("CMAKE_GENERATOR", "Ninja")


def run(*command, **environment):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600,
                            env={**os.environ, **environment})
    if result.returncode != 0:
        raise AssertionError(f"{command}:\n{result.stdout}{result.stderr}")
    return result.stdout


def install_and_move(build, folder):
    run("cmake", "--install", build, "--prefix", folder / "first")
    shutil.move(folder / "first", folder / "prefix")
    return folder / "prefix"


def build_project(name, folder, *options):
    run("cmake", "-S", HERE / name, "-B", folder, f"-DMPI_C_COMPILER={MPICC}",
        f"-DMPI_CXX_COMPILER={MPICXX}", f"-DMPI_Fortran_COMPILER={FC}", *options)
    run("cmake", "--build", folder)
    return run(*MPIRUN, "-n", 3, folder / "program")


def options_of_recipe():
    """What the recipe for Spack gives to CMake with its defaults: Spack's names are stood in for."""
    variants = {}

    class CMakePackage:
        spec = {"mpi": types.SimpleNamespace(mpicc=MPICC, mpicxx=MPICXX, mpifc=FC)}
        run_tests = False

        def define(self, name, value):
            return f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}"

        def define_from_variant(self, name, variant):
            return self.define(name, variants[variant])

    def ignored(*_, **__):
        pass

    def variant(name, default, description):
        variants[name] = default

    names = {"CMakePackage": CMakePackage, "variant": variant,
             **{name: ignored for name in ("license", "version", "depends_on", "conflicts")}}
    spack = types.ModuleType("spack.package")
    vars(spack).update(names)
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), spack
    recipe = {}
    exec((ROOT / "packaging/spack/packages/wisp/package.py").read_text(), recipe)
    return recipe["Wisp"]().cmake_args()


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.prefix = install_and_move(BUILD, pathlib.Path(cls.temporary.name))

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.temporary.name))

    def flags(self, *which, package="wisp"):
        if shutil.which("pkg-config") is None:
            self.skipTest("there is no pkg-config")
        file = next(self.prefix.rglob("wisp.pc"))
        return run("pkg-config", *which, package, PKG_CONFIG_PATH=str(file.parent)).split()

    def test_find_package(self):
        self.assertIn("sum 2", build_project("cpp", self.folder, f"-DCMAKE_PREFIX_PATH={self.prefix}"))

    def test_find_package_of_a_project_without_cpp(self):
        self.assertIn("half", build_project("c", self.folder, f"-DCMAKE_PREFIX_PATH={self.prefix}"))

    def test_what_does_not_fit_is_said(self):
        def configure(*options):
            result = subprocess.run(["cmake", "-S", HERE / "c", "-B", self.folder, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                                     f"-DMPI_C_COMPILER={MPICC}", *options], capture_output=True, text=True, timeout=600)
            shutil.rmtree(self.folder)
            return " ".join(result.stderr.split())
        self.assertIn("Java is none of wisp's components", configure("-DCOMPONENTS=C;Java"))
        self.assertEqual("", configure("-DCOMPONENTS=C"))
        other = shutil.which("mpicc.mpich" if "openmpi" in MPICC else "mpicc.openmpi")
        if other:
            self.assertIn("wisp was built with", configure(f"-DMPI_C_COMPILER={other}"))

    def test_pkg_config(self):
        program = self.folder / "program"
        run(MPICXX, "-std=c++20", *self.flags("--cflags"), HERE / "cpp/program.cpp", *self.flags("--libs"), "-o", program)
        self.assertIn("sum 2", run(*MPIRUN, "-n", 3, program))

    def test_pkg_config_and_a_c_compiler(self):
        program = self.folder / "program"
        run(MPICC, "-std=c99", *self.flags("--cflags"), ROOT / "examples/halves.c", *self.flags("--libs"), "-o", program)
        self.assertIn("half", run(*MPIRUN, "-n", 3, program))

    def test_fortran(self):
        if not list(self.prefix.rglob("wisp.mod")):
            self.skipTest("there is no Fortran compiler, or the MPI has no mpi_f08")
        self.assertIn("half", build_project("fortran", self.folder, f"-DCMAKE_PREFIX_PATH={self.prefix}"))
        program = self.folder / "by_pkg_config"
        run(FC, *self.flags("--cflags", package="wisp-fortran"), ROOT / "examples/halves.f90",
            *self.flags("--libs", package="wisp-fortran"), "-o", program)
        self.assertIn("half", run(*MPIRUN, "-n", 3, program))

    def test_the_program_says_the_version_of_the_headers(self):
        header = (self.prefix / "include/wisp/version.h").read_text()
        version = re.search(r'WISP_VERSION "(.*)"', header)[1]
        self.assertIn(f"wisp {version}", run(*MPIRUN, "-n", 2, self.prefix / "bin/wisp", "--version"))
        self.assertEqual(self.flags("--modversion"), [version])

    def test_nothing_names_the_folder_of_the_build(self):
        for file in self.prefix.rglob("*"):
            if file.suffix in (".cmake", ".pc", ".h", ".hpp"):
                self.assertNotIn(str(ROOT), file.read_text(), file)

    @unittest.skipIf(IS_QUICK, "builds the library once more")
    def test_fetch_content_builds_the_library_alone(self):
        self.assertIn("sum 2", build_project("fetched", self.folder, "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON",
                                             "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DCMAKE_BUILD_TYPE=Debug",
                                             "-DCMAKE_CXX_FLAGS_DEBUG="))

    @unittest.skipIf(IS_QUICK, "builds the library once more")
    def test_spacks_recipe_gives_a_shared_library_with_a_soversion_that_the_program_finds(self):
        build = self.folder / "build"
        options = options_of_recipe()
        self.assertIn("-DBUILD_SHARED_LIBS=ON", options)
        run("cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS_DEBUG=", *options)
        run("cmake", "--build", build)
        prefix = install_and_move(build, self.folder)
        library = next(prefix.rglob("libwisp.so"))
        self.assertIn("SONAME               libwisp.so.0.2\n", run("objdump", "-p", library))
        self.assertIn("wisp 0.2", run(*MPIRUN, "-n", 2, prefix / "bin/wisp", "--version"))
        for name in ("cpp", "c", *(["fortran"] if list(prefix.rglob("wisp.mod")) else [])):
            build_project(name, self.folder / name, f"-DCMAKE_PREFIX_PATH={prefix}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
