"""scripts/cross-check: virtual times of the simulated cluster beside SMPI's."""
import argparse
import sys

from runs import Wisp

NETWORK = ["--latency", "1us", "--overhead", "0.5us", "--bandwidth", "12.5GB/s"]
OPERATIONS = ["barrier", "bcast", "reduce", "allreduce", "scan", "gather", "scatter", "allgather",
              "reduce_scatter_block", "gatherv", "scatterv"]
ALLOWED = 0.15


def times(rows):
    return {(row["case"], row.get("bytes")): row["median_us"] for row in rows if row["variant"] == "wisp"}


def main():
    parser = argparse.ArgumentParser(prog="scripts/cross-check")
    parser.add_argument("-n", type=int, default=256, metavar="P")
    parser.add_argument("operations", nargs="*", metavar="OP", default=OPERATIONS)
    arguments = parser.parse_args(sys.argv[2:])
    ours, smpi = Wisp(sys.argv[1], "openmpi"), Wisp(sys.argv[1], "smpi")
    print(f"{arguments.n} ranks, 1 µs, 0.5 µs on both sides, 12.5 GB/s\n"
          f"{'operation':<24}{'bytes':>8}{'cluster, µs':>14}{'SMPI, µs':>12}{'SMPI/cluster':>14}")
    far = 0
    for operation in arguments.operations:
        what = [operation] if operation in ("gatherv", "scatterv") else ["collective", "--op", operation]
        here = times(ours.rows(["simulate", *what, "--ranks", str(arguments.n), "--quick", *NETWORK], None))
        there = times(smpi.rows(["bench", *what, "--quick"], arguments.n))
        for case in [case for case in here if case in there]:
            ratio = there[case] / here[case]
            is_far = abs(ratio - 1) > ALLOWED
            far += is_far
            size = "" if case[1] is None else case[1]
            print(f"{case[0]:<24}{size:>8}{here[case]:>14.2f}{there[case]:>12.2f}{ratio:>14.3f}{'  *' if is_far else ''}")
    print(f"* {far} differ by more than {ALLOWED:.0%}")


main()
