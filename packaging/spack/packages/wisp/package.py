# Copyright (c) 2026, the wisp authors. SPDX-License-Identifier: BSD-3-Clause

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # before Spack 1.0 it is one of the names above
    pass


class Wisp(CMakePackage):
    """Weightless process groups and collectives for MPI: communicators made locally, irregular and sparse
    collectives, splits by any data, a perfectly balanced sort."""

    # Until there are releases to fetch, in a clone of the repository: spack dev-build -d . wisp@main
    license("BSD-3-Clause", checked_by="the wisp authors")

    version("main", branch="main")

    variant("shared", default=True, description="Build a shared library")
    variant("program", default=True, description="Build the wisp program")
    variant("fortran", default=True, description="Build the Fortran module")
    variant("preload", default=True, description="Build the library that goes under programs that exist")
    variant("highway", default=True, description="Sort numbers with vector instructions")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("python@3.9:", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi@3.1:")
    depends_on("fmt@8:")
    depends_on("highway@1:", when="+highway")
    depends_on("cli11@2.1:", type="build", when="+program")
    depends_on("nlohmann-json@3.9:", type="build", when="+program")
    depends_on("googletest@1.11:", type="test")
    depends_on("python@3.9:", type="test")

    conflicts("%gcc@:11", msg="wisp needs C++20 with coroutines")

    def cmake_args(self):
        return [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx),
            self.define("MPI_Fortran_COMPILER", self.spec["mpi"].mpifc),
            self.define("WISP_BUILD_TESTS", self.run_tests),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("WISP_HIGHWAY", "highway"),
            self.define_from_variant("WISP_BUILD_PROGRAM", "program"),
            self.define_from_variant("WISP_BUILD_FORTRAN", "fortran"),
            self.define_from_variant("WISP_BUILD_PRELOAD", "preload"),
        ]
