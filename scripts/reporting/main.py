"""scripts/report: the page, or the ratios of one benchmark."""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import time

from runs import Wisp, cores, machine, merged, positive
from systems import systems


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/report", description="Measures, and writes report/index.html.")
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich", "smpi"])
    parser.add_argument("--ranks", type=positive, default=cores(), metavar="N",
                        help="ranks of the measured runs (default: one a core)")
    parser.add_argument("--quick", action="store_true", help="fewer cases and one launch: minutes instead of an hour")
    parser.add_argument("--output", default="report", help="the folder")
    parser.add_argument("--readme", action="store_true", help="only write the plots of the README to docs/plots")
    parser.add_argument("--launches", type=positive, help="of each benchmark (default: 3, with --quick 1)")
    parser.add_argument("--reference", default="", help="the variant that ratios are taken to")
    parser.add_argument("-n", type=positive, metavar="P", help="print the ratios of one benchmark on P ranks instead")
    parser.add_argument("benchmark", nargs=argparse.REMAINDER, help="with -n: its name and options")
    parsed = parser.parse_args(arguments)
    if parsed.benchmark and parsed.n is None:
        parser.error(f"{' '.join(parsed.benchmark)}: to print ratios, say on how many ranks (-n P)")
    if parsed.n is not None and not parsed.benchmark:
        parser.error("-n P: the ratios of which benchmark?")
    return parsed


def costs_of(doctor):
    """What messages cost, in words."""
    found = []
    for where, key in (("within a host", "within_host"), ("across hosts", "across_hosts")):
        if f"latency_us_{key}" in doctor:
            speed = doctor[f"gb_per_second_{key}"]
            found.append(f"{where} α = {doctor[f'latency_us_{key}']:.2f} µs, β = {1 / speed:.3f} ns/byte ({speed:.2f} GB/s)")
    return "; ".join(found) or "not measured: there is only one rank"


def facts_of(doctor, ranks):
    return [("machine", machine()), ("MPI", doctor["mpi"]),
            ("ranks", f"{ranks}, {doctor['ranks_per_core']:.2g} for each core"), ("messages", costs_of(doctor)),
            *(("warning", warning) for warning in doctor["warnings"]),
            ("date", datetime.date.today().isoformat())]


def run_part(wisp, part, ranks, quick, launches):
    if part.simulated_ranks:
        return merged([wisp.simulate([*part.arguments, "--quick"], part.simulated_ranks)])
    options = ["--quick"] if quick else []
    return merged([wisp.bench([*part.arguments, *options], ranks) for _ in range(launches)])


def write_page(wisp, arguments):
    from page import page  # needs what prepare() installs

    launches = arguments.launches or (1 if arguments.quick else 3)
    chosen = [(system, [part for part in system.parts
                        if (part.in_quick or not arguments.quick) and part.not_with != arguments.mpi])
              for system in systems()]
    count = sum(len(parts) for _, parts in chosen)
    # Before an hour of measuring, not after it.
    output = pathlib.Path(arguments.output)
    plots = output / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    begin, done = time.monotonic(), 0
    facts = facts_of(wisp.doctor(arguments.ranks), arguments.ranks)
    sections, failures, kept = [], [], 0
    with (output / "rows.json").open("w") as file:
        for system, parts in chosen:
            results = []
            for part in parts:
                done += 1
                where = (f"{part.simulated_ranks} simulated ranks" if part.simulated_ranks else
                         f"{arguments.ranks} ranks")
                print(f"[{done}/{count}, {time.monotonic() - begin:.0f} s] {' '.join(part.arguments)}, {where} …",
                      flush=True)
                try:
                    rows = run_part(wisp, part, arguments.ranks, arguments.quick, launches)
                except RuntimeError as error:  # the others are worth having
                    failures.append(str(error))
                    print(f"  failed: {error}", file=sys.stderr)
                    continue
                file.writelines(json.dumps(row) + "\n" for row in rows)
                file.flush()
                kept += len(rows)
                results.append((part, rows))
            sections.append((system, results))
    facts += [("failed", failure) for failure in failures]
    text = page(facts, sections, lambda name, drawn: (plots / f"{name}.svg").write_text(drawn))
    (output / "index.html").write_text(text)
    print(f"{output / 'index.html'}: {kept} rows, {time.monotonic() - begin:.0f} s")
    if failures:
        raise RuntimeError(f"{len(failures)} of {count} runs failed; the page lacks them and says so")


def main():
    arguments = parse(sys.argv[2:])
    wisp = Wisp(sys.argv[1], "openmpi" if arguments.readme else arguments.mpi)
    try:
        if arguments.n is not None:
            from ratios import print_ratios

            wisp.prepare()
            print_ratios(wisp, arguments.n, arguments.benchmark, arguments.launches or 3, arguments.reference)
            return
        wisp.prepare("report")
        if arguments.readme:
            from readme_plots import write_readme_plots

            write_readme_plots(wisp)
        else:
            write_page(wisp, arguments)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"scripts/report: {error}")


if __name__ == "__main__":
    main()
