"""The extension for the MPI that mpi4py runs on."""

from importlib import import_module
from pathlib import Path
from typing import Any

from mpi4py import MPI


def _load() -> Any:
    version = MPI.Get_library_version().split("\0")[0].strip()
    if getattr(MPI, "Get_abi_version", lambda: (-1, -1))()[0] == 1:  # what mpi4py was built with, from 4.1 on
        kind = "mpiabi"
    else:  # Intel's MPI, MVAPICH and others have MPICH's handles
        kind = "openmpi" if version.startswith("Open MPI") else "mpich"
    if not any(Path(__file__).parent.glob(f"_{kind}.*")):
        raise ImportError(
            f"wisp was not built for the MPI that mpi4py runs on ({version.splitlines()[0]}): there is no "
            f"extension _{kind}; docs/python.md says how to build it"
        )
    return import_module(f"wisp._{kind}")


_extension = _load()
globals().update({name: value for name, value in vars(_extension).items() if not name.startswith("__")})
