"""Prints ratios to a reference variant, the median over several launches."""
import statistics


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
    print(f"{'case':<24}{'bytes':>9}{reference:>20}" + "".join(f"{variant:>24}" for variant in others))
    for case in cases:
        having = [run for run in runs if (case, reference) in run]
        if not having:  # some variants are of some cases only
            continue
        base = statistics.median(run[case, reference] for run in having)
        line = f"{case[0]:<24}{case[1] if case[1] is not None else '':>9}{base:>20.3f}"
        for variant in others:
            ratios = [run[case, variant] / run[case, reference] for run in having
                      if (case, variant) in run and run[case, reference] > 0]
            line += f"{statistics.median(ratios):>24.2f}" if ratios else f"{'':>24}"
        print(line)
