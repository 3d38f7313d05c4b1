"""Prints ratios to a reference variant, the median over several launches."""
import statistics

from tabulate import tabulate


def print_ratios(wisp, ranks, arguments, launches, reference):
    runs, cases, variants = [], {}, []
    for _ in range(launches):
        medians = {}
        for row in wisp.bench(arguments, ranks):
            case = (row["case"], row.get("bytes"))
            cases.setdefault(case, row["where"])
            if row["variant"] not in variants:
                variants.append(row["variant"])
            medians[case, row["variant"]] = row["median_us"]
        runs.append(medians)
    if not cases:
        raise RuntimeError(f"{' '.join(arguments)}: no case on {ranks} ranks")
    reference = reference or variants[0]
    if reference not in variants:
        raise RuntimeError(f"--reference {reference} is not one of {', '.join(variants)}")
    others = [variant for variant in variants if variant != reference]
    print(f"{next(iter(cases.values()))}, {launches} launches; µs of {reference}, then ratios to it")
    table = []
    for case in cases:
        having = [run for run in runs if (case, reference) in run]
        if not having:  # some variants are of some cases only
            continue
        line = [case[0], case[1], f"{statistics.median(run[case, reference] for run in having):.3f}"]
        for variant in others:
            ratios = [run[case, variant] / run[case, reference] for run in having
                      if (case, variant) in run and run[case, reference] > 0]
            line.append(f"{statistics.median(ratios):.2f}" if ratios else "")
        table.append(line)
    print(tabulate(table, headers=["case", "bytes", reference, *others], tablefmt="plain", disable_numparse=True,
                   colalign=["left"] + ["right"] * (2 + len(others))))
