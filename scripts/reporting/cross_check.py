"""scripts/cross-check: virtual times of the simulated cluster beside SMPI's."""
import argparse
import sys

from runs import Wisp, positive

NETWORK = ["--latency", "1us", "--overhead", "0.5us", "--bandwidth", "12.5GB/s",
           "--joining", "0"]  # SMPI's ranks compute in no time
OPERATIONS = ["barrier", "bcast", "reduce", "allreduce", "scan", "gather", "scatter", "allgather",
              "reduce_scatter_block", "gatherv", "scatterv"]
ALLOWED = 0.15
# Several messages of kilobytes come to one rank at the same time; SMPI shares its port among them, so they all end late.
KNOWN = {("reduce", 4096), ("gather", 4096), ("same,b=10000", 40000)}


def times(rows):
    return {(row["case"], row.get("bytes")): row["median_us"] for row in rows if row["variant"] == "wisp"}


def main():
    parser = argparse.ArgumentParser(prog="scripts/cross-check", description="Exits with 1 where the two differ by "
                                     f"more than {ALLOWED:.0%} and docs/results.md does not say why.")
    parser.add_argument("-n", type=positive, default=256, metavar="P")
    parser.add_argument("operations", nargs="*", metavar="OP", help=", ".join(OPERATIONS))
    arguments = parser.parse_args(sys.argv[2:])
    unknown = [operation for operation in arguments.operations if operation not in OPERATIONS]
    if unknown:
        parser.error(f"{unknown[0]} is not one of {', '.join(OPERATIONS)}")
    ours, smpi = Wisp(sys.argv[1], "openmpi"), Wisp(sys.argv[1], "smpi")
    ours.prepare()
    smpi.prepare()
    print(f"{arguments.n} ranks, 1 µs, 0.5 µs on both sides, 12.5 GB/s\n"
          f"{'operation':<24}{'bytes':>8}{'cluster, µs':>14}{'SMPI, µs':>12}{'SMPI/cluster':>14}")
    cells, far, unexplained = 0, 0, 0
    for operation in arguments.operations or OPERATIONS:
        what = [operation] if operation in ("gatherv", "scatterv") else ["collective", "--op", operation]
        here = times(ours.simulate([*what, "--quick", *NETWORK], arguments.n))
        there = times(smpi.bench([*what, "--quick"], arguments.n))
        both = [case for case in here if case in there]
        if not both:
            raise RuntimeError(f"{operation}: the two have no case in common")
        for case in both:
            is_equal = here[case] == there[case]
            ratio = 1 if is_equal else there[case] / here[case] if here[case] > 0 else float("inf")
            is_far = abs(ratio - 1) > ALLOWED
            cells += 1
            far += is_far
            unexplained += is_far and case not in KNOWN
            size = "" if case[1] is None else case[1]
            print(f"{case[0]:<24}{size:>8}{here[case]:>14.2f}{there[case]:>12.2f}{ratio:>14.3f}{'  *' if is_far else ''}",
                  flush=True)
    print(f"* {far} of {cells} differ by more than {ALLOWED:.0%}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        sys.exit(f"scripts/cross-check: {error}")
