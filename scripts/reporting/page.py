"""The page: for each system what is measured, plots, ratios, and the paper's claim beside what was seen."""
import html
import math
import re
import statistics

from plots import draw, size_text, svg

EVEN = 0.05  # ratios so near to 1 are no difference

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; color: #1d1d1f; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { margin-top: 2.5rem; border-top: 1px solid #ccc; padding-top: 1rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 1rem; }
figure { margin: 0; } figure svg { width: 100%; height: auto; display: block; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.faster { color: #1b6b2f; font-weight: 600; } .slower { color: #b3261e; font-weight: 600; }
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem; }
.beside p { margin: 0; padding: .8rem 1rem; background: #f5f5f2; border-radius: .4rem; }
code { font-size: .8rem; overflow-wrap: anywhere; } nav a { margin-right: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; } dd { margin: 0; overflow-wrap: anywhere; }
"""


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


def ratio_of(ours, theirs):
    """How many times as long theirs takes: the median of the ratios of each launch."""
    ratios = []
    for our, their in zip(ours["launches_us"], theirs["launches_us"]):
        ratios.append(their / our if our > 0 else math.inf if their > 0 else 1)
    return statistics.median(ratios)


def times(value):
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def verdict(ratio):
    """A ratio as a class and in words; winners and losers alike."""
    if abs(ratio - 1) <= EVEN:
        return "even", "even"
    if ratio > 1:
        return "faster", "no message" if math.isinf(ratio) else f"{times(ratio)}× faster"
    return "slower", f"{times(1 / ratio)}× slower" if ratio > 0 else "slower: the other takes no message"


def ratio_table(part, rows):
    lines = []
    for case, size, ours, theirs, broken in compared(part, rows):
        kind, words = verdict(ratio_of(ours, theirs))
        lines.append(f"<tr><td>{html.escape(case)}</td><td>{'' if size is None else size_text(size)}</td>"
                     f"<td>{times(ours['median_us'])}</td><td>{times(theirs['median_us'])}</td>"
                     f"<td>{html.escape(theirs['variant'])}</td><td class='{kind}'>{words}</td>"
                     f"<td>{html.escape('; '.join(broken))}</td></tr>")
    if not lines:
        return ""
    ours, theirs = html.escape(part.ours), html.escape(", ".join(part.theirs))
    return (f"<div class='table'><table><caption>{html.escape(where(part, rows))}</caption><thead><tr><th>case</th>"
            f"<th>size</th><th>{ours}, µs</th><th>best of {theirs}, µs</th><th></th><th>{ours} is</th><th></th></tr>"
            f"</thead><tbody>{''.join(lines)}</tbody></table></div>"
            f"<p>Repeat: <code>{html.escape(rows[0]['command'])}</code></p>")


def where(part, rows):
    return f"{rows[0]['where']}; {part.note}" if part.note else rows[0]["where"]


def seen(parts):
    """What was seen, in words."""
    sentences = []
    for part, rows in parts:
        ratios = [ratio_of(ours, theirs) for _, _, ours, theirs, _ in compared(part, rows)]
        if not ratios:
            continue
        name = " ".join(part.arguments).replace("--op ", "")
        known = [ratio for ratio in ratios if math.isfinite(ratio)]
        if not known:
            sentences.append(f"{name}: no message, so no time ({where(part, rows)}).")
            continue
        slower = sum(ratio < 1 - EVEN for ratio in known)
        span = (f"{times(known[0])} times as fast" if len(known) == 1 else
                f"{times(min(known))} to {times(max(known))} times as fast, {times(statistics.median(known))} in the "
                f"middle; slower in {slower} of {len(known)} cells")
        sentences.append(f"{name}: {span} ({where(part, rows)}).")
    return sentences


def without_size(case):
    """Cases of several sizes, as in "spikes,b=100", are one plot."""
    return re.sub(r",b=\d+$", "", case)


def anchor(system):
    return system.name.lower().replace(" ", "-")


def system_section(system, parts, save_plot):
    plots, tables = [], []
    for number, (part, rows) in enumerate(parts):
        for case in dict.fromkeys(without_size(row["case"]) for row in rows):
            of_case = [row for row in rows if without_size(row["case"]) == case]
            name = f"{anchor(system)}-{number}-{len(plots)}"
            title = f"{part.arguments[0]}: {case}, {rows[0]['where']}"
            drawn = svg(draw(of_case, part.ours, title), name)
            save_plot(name, drawn)
            plots.append(f"<figure>{drawn}</figure>")
        tables.append(ratio_table(part, rows))
    saw = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in seen(parts))
    return (f"<section id='{anchor(system)}'><h2>{html.escape(system.name)}</h2><p>{html.escape(system.measured)}</p>"
            f"<div class='beside'><p><b>The paper claims.</b> {html.escape(system.claim)}</p>"
            f"<div><b>Seen here.</b><ul>{saw}</ul></div></div>"
            f"<div class='plots'>{''.join(plots)}</div>{''.join(tables)}</section>")


def page(facts, sections, save_plot=lambda name, drawn: None):
    """`facts`: pairs for people; `sections`: (System, [(Part, rows)]); each plot is also given to `save_plot`."""
    listed = "".join(f"<dt>{html.escape(what)}</dt><dd>{html.escape(value)}</dd>" for what, value in facts)
    links = "".join(f"<a href='#{anchor(s)}'>{html.escape(s.name)}</a>" for s, _ in sections)
    body = "".join(system_section(system, parts, save_plot) for system, parts in sections)
    return (f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>wisp on this machine</title>"
            f"<meta name='viewport' content='width=device-width, initial-scale=1'><link rel='icon' href='data:,'>"
            f"<style>{STYLE}</style></head><body><h1>wisp on this machine</h1><dl>{listed}</dl><nav>{links}</nav>"
            f"<p>Bands and bars: from the least to the greatest median of several launches; with one launch, from the "
            f"least sample to the median. Within {EVEN:.0%} is called even. Losses are shown as wins are.</p>"
            f"<p>Simulated figures are virtual times of wisp's own cluster. Beside SimGrid's SMPI, another simulator, "
            f"with the same network they agree within 15 % but where several long messages come to one rank at the "
            f"same time: SMPI shares the rank's port among them, the cluster takes them one by one "
            f"(docs/results.md).</p>"
            f"{body}</body></html>\n")
