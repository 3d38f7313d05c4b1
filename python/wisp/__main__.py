"""`python -m wisp`: what MPI it runs on."""

from mpi4py import MPI

from . import Comm, __version__, _core

world = Comm(MPI.COMM_WORLD)
nodes = world.node_leaders()
on_nodes = world.bcast(nodes.size, 0)
if world.rank == 0:
    print(f"wisp {__version__}, extension {_core._extension.__name__.rpartition('.')[2]}")
    print("MPI:", MPI.Get_library_version().split("\0")[0].strip().splitlines()[0])
    print(f"{world.size} ranks on {on_nodes} nodes")
