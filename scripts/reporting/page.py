"""The page: a summary, then for each system what is measured, plots, ratios, and the paper's claim beside what was seen."""
import math
import pathlib
import re
import statistics

import jinja2

from plots import draw, size_text, svg

EVEN = 0.05   # ratios so near to 1 are no difference
NOISE = 0.3   # launches of one cell whose ratios differ by more were disturbed
LOSSES = 8    # lines of the summary


def cells(rows):
    """The rows of each case and size, by variant."""
    found = {}
    for row in rows:
        found.setdefault((row["case"], row.get("bytes")), {})[row["variant"]] = row
    return found


def compared(part, rows):
    """(case, bytes, ours, the best of theirs, what breaks a guideline) of each cell that has both."""
    for (case, size), by_variant in cells(rows).items():
        theirs = [by_variant[name] for name in part.theirs if name in by_variant]
        if part.ours in by_variant and theirs:
            broken = [f"{row['variant']} breaks guideline {row['mark'].strip('!')}" for row in by_variant.values()
                      if row.get("mark")]
            yield case, size, by_variant[part.ours], min(theirs, key=lambda row: row["median_us"]), broken


def ratios_of(ours, theirs):
    """How many times as long theirs takes, launch by launch."""
    return [their / our if our > 0 else math.inf if their > 0 else 1
            for our, their in zip(ours["launches_us"], theirs["launches_us"])]


def ratio_of(ours, theirs):
    return statistics.median(ratios_of(ours, theirs))


def times(value):
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def verdict(ratio):
    """A ratio as a class and in words; winners and losers alike."""
    if abs(ratio - 1) <= EVEN:
        return "even", "even"
    if ratio > 1:
        return "faster", "no message" if math.isinf(ratio) else f"{times(ratio)} times faster"
    return "slower", f"{times(1 / ratio)} times slower" if ratio > 0 else "slower: the other takes no message"


def name_of(part):
    return " ".join(part.arguments).replace("--op ", "")


def table_of(part, rows):
    found = []
    for case, size, ours, theirs, broken in compared(part, rows):
        kind, words = verdict(ratio_of(ours, theirs))
        found.append({"case": case, "size": "" if size is None else size_text(size), "ours": times(ours["median_us"]),
                      "theirs": times(theirs["median_us"]), "who": theirs["variant"], "kind": kind, "words": words,
                      "broken": "; ".join(broken)})
    return {"caption": where(part, rows), "ours": part.ours, "theirs": ", ".join(part.theirs), "cells": found,
            "command": rows[0]["command"]} if found else None


def where(part, rows):
    return f"{rows[0]['where']}; {part.note}" if part.note else rows[0]["where"]


def span(ratios):
    """The worst, the best and the middle of several ratios, in words."""
    words = list(dict.fromkeys(verdict(ratio)[1] for ratio in (min(ratios), max(ratios))))
    if len(words) == 1:
        return words[0]
    return f"{words[0]} to {words[1]}, {verdict(statistics.median(ratios))[1]} in the middle"


def seen(parts):
    """What was seen, in words."""
    sentences = []
    for part, rows in parts:
        ratios = [ratio_of(ours, theirs) for _, _, ours, theirs, _ in compared(part, rows)]
        known = [ratio for ratio in ratios if math.isfinite(ratio)]
        if known:
            slower = sum(ratio < 1 - EVEN for ratio in known)
            of = f"; slower in {slower} of {len(known)} cells" if slower and len(known) > 1 else ""
            sentences.append(f"{name_of(part)}: {span(known)}{of} ({where(part, rows)}).")
        elif ratios:
            sentences.append(f"{name_of(part)}: no message, so no time ({where(part, rows)}).")
    return sentences


def summary_of(sections):
    """Wins, losses, what to do about them, and whether the figures can be trusted."""
    wins, losses, advice, disturbed, repeated, faster, count = [], [], [], 0, 0, 0, 0
    for system, parts in sections:
        known = []
        has_lost = False
        for part, rows in parts:
            for case, size, ours, theirs, _ in compared(part, rows):
                ratios = ratios_of(ours, theirs)
                ratio = statistics.median(ratios)
                count += 1
                faster += ratio > 1 + EVEN
                finite = [one for one in ratios if 0 < one < math.inf]
                repeated += len(finite) > 1
                disturbed += len(finite) > 1 and max(finite) > (1 + NOISE) * min(finite)
                if 0 < ratio < math.inf:
                    known.append(ratio)
                if ratio < 1 - EVEN:
                    has_lost = True
                    size = "" if size is None else f", {size_text(size)}"
                    losses.append((ratio, f"{name_of(part)}: {case}{size}: {verdict(ratio)[1]} than {theirs['variant']} "
                                          f"({rows[0]['where']})"))
        if known and max(known) > 1 + EVEN:
            wins.append(f"{system.name}: up to {verdict(max(known))[1]}, {verdict(statistics.median(known))[1]} in the middle")
        if has_lost:
            advice.append(f"{system.name}: {system.advice}")
    warnings = []
    if repeated and disturbed > repeated / 5:
        warnings.append(f"The machine was not quiet: in {disturbed} of {repeated} cells the launches differ by more than "
                        f"{NOISE:.0%}. Run this again when nothing else runs; until then the figures are rough.")
    losses.sort()
    return {"wins": wins, "losses": [line for _, line in losses[:LOSSES]], "faster": faster, "slower": len(losses),
            "cells": count, "warnings": warnings,
            "advice": advice or ["Nothing: wisp is nowhere slower by more than 5 %."]}


def without_size(case):
    """Cases of several sizes, as in "spikes,b=100", are one plot."""
    return re.sub(r",b=\d+$", "", case)


def anchor(system):
    return system.name.lower().replace(" ", "-")


def section_of(system, parts, save_plot):
    plots, tables, ratios = [], [], []
    for number, (part, rows) in enumerate(parts):
        ratios += [ratio_of(ours, theirs) for _, _, ours, theirs, _ in compared(part, rows)]
        for case in dict.fromkeys(without_size(row["case"]) for row in rows):
            of_case = [row for row in rows if without_size(row["case"]) == case]
            name = f"{anchor(system)}-{number}-{len(plots)}"
            drawn = svg(draw(of_case, part.ours, f"{part.arguments[0]}: {case}, {rows[0]['where']}"), name)
            save_plot(name, drawn)
            plots.append(drawn)
        tables.append(table_of(part, rows))
    known = [ratio for ratio in ratios if math.isfinite(ratio)]
    return {"anchor": anchor(system), "name": system.name, "measured": system.measured, "claim": system.claim,
            "short": span(known) if known else "", "seen": seen(parts), "plots": plots,
            "tables": [table for table in tables if table]}


def page(facts, sections, save_plot=lambda name, drawn: None):
    """`facts`: pairs for people; `sections`: (System, [(Part, rows)]); each plot is also given to `save_plot`."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent), autoescape=True,
                                     trim_blocks=True)
    return environment.get_template("page.html").render(
        facts=facts, summary=summary_of(sections), even=f"{EVEN:.0%}",
        systems=[section_of(system, parts, save_plot) for system, parts in sections])
