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
    parser.add_argument("--render", action="store_true", help="only write the page again, from the rows of the last run")
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


def arguments_of(part, quick):
    return [*part.arguments, *(["--quick"] if quick or part.simulated_ranks else [])]


def run_part(wisp, part, ranks, quick, launches):
    if part.simulated_ranks:
        return merged([wisp.simulate(arguments_of(part, quick), part.simulated_ranks)])
    return merged([wisp.bench(arguments_of(part, quick), ranks) for _ in range(launches)])


def chosen_parts(arguments):
    return [(system, [part for part in system.parts
                      if (part.in_quick or not arguments.quick) and part.not_with != arguments.mpi])
            for system in systems()]


def render(output, facts, sections):
    from page import page  # needs what prepare() installs

    plots = output / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    text = page(facts, sections, lambda name, drawn: (plots / f"{name}.svg").write_text(drawn))
    (output / "index.html").write_text(text)


def render_again(output):
    """The page from what the last run has left in its folder."""
    rows = [json.loads(line) for line in (output / "rows.json").read_text().splitlines()]
    facts = json.loads((output / "facts.json").read_text())
    sections = []
    for number, system in enumerate(systems()):
        parts = [(part, [row for row in rows if row["part"] == [number, place]])
                 for place, part in enumerate(system.parts)]
        sections.append((system, [(part, of_part) for part, of_part in parts if of_part]))
    render(output, facts, sections)


def write_page(wisp, arguments):
    launches = arguments.launches or (1 if arguments.quick else 3)
    chosen = chosen_parts(arguments)
    count = sum(len(parts) for _, parts in chosen)
    # Before an hour of measuring, not after it.
    output = pathlib.Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    begin, done = time.monotonic(), 0
    facts = facts_of(wisp.doctor(arguments.ranks), arguments.ranks)
    sections, failures, kept = [], [], 0
    with (output / "rows.json").open("w") as file:
        for number, (system, parts) in enumerate(chosen):
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
                place = [number, systems()[number].parts.index(part)]
                file.writelines(json.dumps({**row, "part": place}) + "\n" for row in rows)
                file.flush()
                kept += len(rows)
                results.append((part, rows))
            sections.append((system, results))
    facts += [("failed", failure) for failure in failures]
    (output / "facts.json").write_text(json.dumps(facts))
    render(output, facts, sections)
    print(f"{output / 'index.html'}: {kept} rows, {time.monotonic() - begin:.0f} s")
    if failures:
        raise RuntimeError(f"{len(failures)} of {count} runs failed; the page lacks them and says so")


def main():
    arguments = parse(sys.argv[2:])
    wisp = Wisp(sys.argv[1], "openmpi" if arguments.readme else arguments.mpi)
    try:
        wisp.prepare("report")
        if arguments.n is not None:
            from ratios import print_ratios

            print_ratios(wisp, arguments.n, arguments.benchmark, arguments.launches or 3, arguments.reference)
            return
        if arguments.render:
            render_again(pathlib.Path(arguments.output))
        elif arguments.readme:
            from readme_plots import write_readme_plots

            write_readme_plots(wisp)
        else:
            write_page(wisp, arguments)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"scripts/report: {error}")


if __name__ == "__main__":
    main()
