"""Prints ratios to a reference variant, the median over several launches."""
import statistics


def print_ratios(wisp, ranks, arguments, launches, reference):
    runs, cases, variants = [], {}, []
    for _ in range(launches):
        medians = {}
        for row in wisp.rows(["bench", *arguments], ranks):
            case = (row["case"], row.get("bytes"))
            cases.setdefault(case, (row["ranks"], row["mpi"]))
            if row["variant"] not in variants:
                variants.append(row["variant"])
            medians[case, row["variant"]] = row["median_us"]
        runs.append(medians)
    reference = reference or variants[0]
    others = [variant for variant in variants if variant != reference]
    shown_ranks, mpi = next(iter(cases.values()))
    print(f"{mpi}, {shown_ranks} ranks, {launches} launches; µs of {reference}, then ratios to it")
    print(f"{'case':<24}{'bytes':>9}{reference:>20}" + "".join(f"{variant:>24}" for variant in others))
    for case in cases:
        base = statistics.median(run[case, reference] for run in runs)
        line = f"{case[0]:<24}{case[1] if case[1] is not None else '':>9}{base:>20.3f}"
        for variant in others:
            ratios = [run[case, variant] / run[case, reference] for run in runs
                      if (case, variant) in run and run[case, reference] > 0]
            line += f"{statistics.median(ratios):>24.2f}" if ratios else f"{'':>24}"
        print(line)
