"""scripts/report: the page, or the ratios of one benchmark."""
import argparse
import datetime
import json
import pathlib
import sys
import time

from page import page
from ratios import print_ratios
from readme_plots import write_readme_plots
from runs import Wisp, cores, machine, merged
from systems import systems


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/report", description="Measures, and writes report/index.html.")
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--ranks", type=int, default=cores(), help="ranks of the measured runs (default: one a core)")
    parser.add_argument("--quick", action="store_true", help="fewer cases and one launch: minutes instead of an hour")
    parser.add_argument("--output", default="report", help="the folder")
    parser.add_argument("--readme", action="store_true", help="only write the plots of the README to docs/plots")
    parser.add_argument("--launches", type=int, help="of each benchmark (default: 3, with --quick 1)")
    parser.add_argument("--reference", default="", help="the variant that ratios are taken to")
    parser.add_argument("-n", type=int, metavar="P", help="print the ratios of one benchmark on P ranks instead")
    parser.add_argument("benchmark", nargs=argparse.REMAINDER, help="with -n: its name and options")
    return parser.parse_args(arguments)


def facts_of(wisp, ranks):
    doctor = wisp.doctor(ranks)
    alpha = doctor.get("latency_us_within_host")
    costs = (f"α = {alpha:.2f} µs, {doctor['gb_per_second_within_host']:.2f} GB/s within a host" if alpha else
             "not measured on one rank")
    if "latency_us_across_hosts" in doctor:
        costs += (f"; α = {doctor['latency_us_across_hosts']:.2f} µs, {doctor['gb_per_second_across_hosts']:.2f} GB/s "
                  "across hosts")
    return [("machine", machine()), ("MPI", doctor["mpi"]),
            ("ranks", f"{ranks}, {doctor['ranks_per_core']:.2g} for each core"), ("messages", costs),
            *(("warning", warning) for warning in doctor["warnings"]),
            ("date", datetime.date.today().isoformat())]


def run_part(wisp, part, ranks, quick, launches):
    options = ["--quick"] if quick else []
    if part.simulated_ranks:
        arguments = ["simulate", *part.arguments, "--ranks", str(part.simulated_ranks), "--quick"]
        return merged([wisp.rows(arguments, None)])
    return merged([wisp.rows(["bench", *part.arguments, *options], ranks) for _ in range(launches)])


def write_page(wisp, arguments):
    launches = arguments.launches or (1 if arguments.quick else 3)
    chosen = [(system, [part for part in system.parts
                        if (part.in_quick or not arguments.quick) and part.not_with != arguments.mpi])
              for system in systems()]
    count = sum(len(parts) for _, parts in chosen)
    begin, done = time.monotonic(), 0
    facts = facts_of(wisp, arguments.ranks)
    sections = []
    for system, parts in chosen:
        results = []
        for part in parts:
            done += 1
            where = f"{part.simulated_ranks} simulated ranks" if part.simulated_ranks else f"{arguments.ranks} ranks"
            print(f"[{done}/{count}, {time.monotonic() - begin:.0f} s] {' '.join(part.arguments)}, {where} …", flush=True)
            results.append((part, run_part(wisp, part, arguments.ranks, arguments.quick, launches)))
        sections.append((system, results))
    output = pathlib.Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    rows = [row for _, parts in sections for _, of_part in parts for row in of_part]
    (output / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    plots = output / "plots"
    plots.mkdir(exist_ok=True)
    text = page(facts, sections, lambda name, drawn: (plots / f"{name}.svg").write_text(drawn))
    (output / "index.html").write_text(text)
    print(f"{output / 'index.html'}: {len(rows)} rows, {time.monotonic() - begin:.0f} s")


def main():
    arguments = parse(sys.argv[2:])
    wisp = Wisp(sys.argv[1], arguments.mpi)
    try:
        if arguments.n is not None:
            print_ratios(wisp, arguments.n, arguments.benchmark, arguments.launches or 3, arguments.reference)
        elif arguments.readme:
            write_readme_plots(wisp)
        elif arguments.benchmark:
            raise RuntimeError(f"{' '.join(arguments.benchmark)}: to print ratios, say on how many ranks (-n P)")
        else:
            write_page(wisp, arguments)
    except RuntimeError as error:
        sys.exit(f"scripts/report: {error}")


main()
