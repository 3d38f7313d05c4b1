"""What is measured of each system, against whom, and what its paper claims."""
import dataclasses


@dataclasses.dataclass
class Part:
    """One benchmark: `arguments` of `wisp bench` or `wisp simulate`, and who is compared with whom."""
    arguments: list
    ours: str
    theirs: list
    simulated_ranks: int = 0  # 0: real ranks
    in_quick: bool = True
    not_with: str = ""        # an MPI that lacks what it is compared with
    note: str = ""            # what a reader must know of the others' times


@dataclasses.dataclass
class System:
    name: str
    measured: str
    claim: str
    advice: str  # where it is slower
    parts: list


MODELLED = "the creation of MPI's communicators is modelled: an allreduce of a mask of 2,048 bits and 10 ns a rank"
NATIVE_CREATION = ["MPI_Comm_split", "MPI_Comm_create_group"]
COLLECTIVES = ["bcast", "reduce", "allreduce", "scan", "gather", "scatter", "allgather", "alltoall", "barrier"]


def systems():
    return [
        System(
            "Communicators",
            "Making a communicator for half of the ranks, and a broadcast on a communicator that was just made.",
            "Axtmann, Wiebigke, Sanders 2018: creation more than 400 times faster; one broadcast on a new range 42 to "
            "82 times (Intel MPI), fifty 3.2 to 7 times, on 32,768 processes.",
            "make it once and keep it; both kinds of communicators work side by side.",
            [Part(["split"], "wisp", NATIVE_CREATION),
             Part(["range-bcast"], "wisp", ["MPI"]),
             Part(["overlap"], "wisp-alternating", ["MPI-cascaded", "MPI-alternating"], in_quick=False),
             Part(["range-bcast"], "wisp", ["MPI"], simulated_ranks=4096, note=MODELLED + ", its broadcasts are wisp's")]),
        System(
            "Collectives",
            "Blocking collectives of doubles, beside MPI's on the same ranks; size: what one rank contributes, or a "
            "block.",
            "Axtmann, Wiebigke, Sanders 2018: the running time of collectives on range communicators remains about "
            "the same as MPI's.",
            "compare the algorithms by name (wisp bench algorithms --op OP) and give the fastest as .algorithm; for short vectors use persistent requests; or keep MPI's call there, on the communicator below.",
            [Part(["collective", "--op", op], "wisp", ["MPI"], in_quick=op in ("bcast", "allreduce", "gather"))
             for op in COLLECTIVES]),
        System(
            "Irregular blocks",
            "gatherv and scatterv of blocks of many distributions, b elements of 4 bytes on average; simulated "
            "against direct messages, which is what MPI libraries do. guideline-2: agreeing on the largest block, and "
            "a regular operation on blocks of that size.",
            "Träff 2019: often 5 to more than 20 times faster than MPI_Gatherv for small blocks, almost two orders of "
            "magnitude on the second system (1,600 and 3,200 processes); two blocks are the exception.",
            "compare direct and led (--algorithm), and set the crossing with WISP_DIRECT_RANKS.",
            [Part(["gatherv"], "wisp", ["MPI_Gatherv", "guideline-2"]),
             Part(["scatterv"], "wisp", ["MPI_Scatterv", "guideline-2"], in_quick=False),
             Part(["gatherv"], "wisp", ["direct", "guideline-2"], simulated_ranks=3200),
             Part(["scatterv"], "wisp", ["direct", "guideline-2"], simulated_ranks=3200, in_quick=False)]),
        System(
            "Neighborhoods",
            "Exchanges with the neighbors of stencils of d dimensions and radius r on tori; size: of a block. "
            "Simulated against one message to each neighbor.",
            "Träff et al. 2015: for small blocks, improvements over MPI's neighborhood collectives close to the ratio "
            "of the number of neighbors to 2d.",
            "use a persistent request, or name a schedule (NeighborOptions::algorithm) where direct messages are faster.",
            [Part(["neighborhood"], "chosen", ["MPI"], not_with="smpi"),
             Part(["neighborhood"], "chosen", ["straightforward"], simulated_ranks=1024)]),
        System(
            "Splits",
            "Groups of ranks by colors and keys: beside MPI_Comm_split, which takes integers only, and beside our own "
            "allgather of all items.",
            "Moody et al. 2011: on 65,536 processes a bitonic sort is 100 times faster than serial sorts of all keys, "
            "and hashing 1.7 to 2.1 times faster than bitonic for few groups.",
            "name an algorithm (SplitOptions::algorithm); integers that fit MPI_Comm_split may stay with it.",
            [Part(["split-by"], "chosen", ["MPI_Comm_split", "allgather"]),
             Part(["split-by"], "chosen", ["allgather"], simulated_ranks=2048)]),
        System(
            "Sort",
            "Sorting doubles with perfect balance; size: bytes of one rank. Janus Quicksort beside itself with MPI's "
            "communicators, and a sample sort on real ranks.",
            "Axtmann, Wiebigke, Sanders 2018: range communicators make Janus Quicksort up to 15 times faster for "
            "moderate inputs, on 32,768 processes.",
            "where each rank has many elements, a sample sort moves them once; it does not balance.",
            [Part(["sort"], "janus", ["janus-mpi-comm", "sample-sort"]),
             Part(["sort"], "janus", ["janus-mpi-comm"], simulated_ranks=1024, note=MODELLED)]),
    ]
