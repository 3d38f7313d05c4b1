"""scripts/demo after the build: what makes wisp worth having, each in a line with its figure."""
import array
import pathlib
import random
import subprocess
import sys

from runs import Wisp, cores

KEYS = 2_000_000


def median_of(rows, variant, case=None, size=None):
    return next(row["median_us"] for row in rows
                if row["variant"] == variant and case in (None, row["case"]) and size in (None, row.get("bytes")))


def communicators(wisp, ranks):
    rows = wisp.bench(["split", "--quick"], ranks)
    ours, theirs = median_of(rows, "wisp"), median_of(rows, "MPI_Comm_split")
    return f"a communicator of half of {ranks} ranks: {1000 * ours:.0f} ns, no message; MPI_Comm_split {theirs:.1f} µs"


def irregular(wisp, _):
    rows = wisp.simulate(["gatherv", "--op", "random", "--count", "1"], 3200)
    ours, direct = median_of(rows, "wisp"), median_of(rows, "direct")
    return (f"gatherv of blocks of random sizes, 4 bytes on average, from 3,200 simulated ranks: {ours:.0f} µs; "
            f"direct messages, as MPI libraries send them, {direct:,.0f} µs")


def neighborhoods(wisp, ranks):
    rows = wisp.bench(["neighborhood", "--op", "alltoall,d=3,r=3", "--count", "8"], 8 * ranks)
    ours, theirs = median_of(rows, "chosen"), median_of(rows, "MPI")
    return (f"halo exchange with 342 neighbors, 8 bytes each, {8 * ranks} ranks on {ranks} cores: {ours:.0f} µs; "
            f"MPI_Neighbor_alltoall {theirs:.0f} µs")


def sort(wisp, ranks, folder):
    """Sorts keys of which most occur many times, on more ranks than divide them, and compares with Python's sort."""
    generator = random.Random(2018)
    keys = array.array("Q", (int(1_000_000 * generator.random() ** 6) for _ in range(KEYS)))
    source, output = folder / "keys", folder / "sorted"
    source.write_bytes(keys.tobytes())
    command = wisp.command(["sort", str(source), str(output), "--type", "u64"], 7 * ranks)
    said = subprocess.run(command, cwd=wisp.root, check=True, capture_output=True, text=True).stdout
    if output.read_bytes() != array.array("Q", sorted(keys)).tobytes():
        sys.exit("scripts/demo: the sorted keys differ from what Python sorts")
    each = said.split(", ")[1].split(" each")[0]
    return f"sort of {KEYS:,} keys, many of them equal, on {7 * ranks} ranks: {each} on each, as Python sorts them"


def main():
    root, mpi, folder = sys.argv[1:]
    wisp, ranks = Wisp(root, mpi), max(2, cores())
    print("== what wisp is for, measured here", flush=True)
    for name, show in (("communicators", communicators), ("irregular gather", irregular),
                       ("neighborhoods", neighborhoods), ("sort", lambda *of: sort(*of, pathlib.Path(folder)))):
        print(f"{name:<18}{show(wisp, ranks)}", flush=True)
    print("\nMore: scripts/report --quick measures everything, docs/ explains it, examples/ shows how to call it.")


if __name__ == "__main__":
    main()
