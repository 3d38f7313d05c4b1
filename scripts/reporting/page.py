"""The page: for each system what is measured, plots, ratios, and the paper's claim beside what was seen."""
import html
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
    """(case, bytes, ours, the best of theirs) of each cell that has both."""
    for (case, size), by_variant in cells(rows).items():
        theirs = [by_variant[name] for name in part.theirs if name in by_variant]
        if part.ours in by_variant and theirs:
            yield case, size, by_variant[part.ours], min(theirs, key=lambda row: row["median_us"])


def verdict(ratio):
    """How many times as long theirs takes, in words and as a class; winners and losers alike."""
    if ratio is None:
        return "faster", "no message"
    if abs(ratio - 1) <= EVEN:
        return "even", "even"
    return ("faster", f"{ratio:.3g}× faster") if ratio > 1 else ("slower", f"{1 / ratio:.3g}× slower")


def ratio_of(ours, theirs):
    return theirs["median_us"] / ours["median_us"] if ours["median_us"] > 0 else None


def times(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def where(rows):
    first = rows[0]
    how = "simulated ranks" if first["simulated"] else "ranks"
    mpi = "" if first["command"].split()[1] == "simulate" else f", {first['mpi']}"
    return f"{first['ranks']:,} {how}{mpi}"


def ratio_table(part, rows):
    lines = []
    for case, size, ours, theirs in compared(part, rows):
        kind, words = verdict(ratio_of(ours, theirs))
        lines.append(f"<tr><td>{html.escape(case)}</td><td>{'' if size is None else size_text(size)}</td>"
                     f"<td>{times(ours['median_us'])}</td><td>{times(theirs['median_us'])}</td>"
                     f"<td>{html.escape(theirs['variant'])}</td><td class='{kind}'>{words}</td></tr>")
    if not lines:
        return ""
    return (f"<div class='table'><table><caption>{html.escape(where(rows))}</caption><thead><tr><th>case</th><th>size"
            f"</th><th>{html.escape(part.ours)}, µs</th><th>best of the others, µs</th><th></th><th>{part.ours} is"
            f"</th></tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
            f"<p>Repeat: <code>{html.escape(rows[0]['command'])}</code></p>")


def seen(parts):
    """What was seen, in words."""
    sentences = []
    for part, rows in parts:
        ratios = [ratio_of(ours, theirs) for _, _, ours, theirs in compared(part, rows)]
        known = [ratio for ratio in ratios if ratio is not None]
        if not ratios:
            continue
        name = " ".join(part.arguments).replace("--op ", "")
        if not known:
            sentences.append(f"{name}: no message, so no time ({where(rows)}).")
            continue
        slower = sum(ratio < 1 - EVEN for ratio in known)
        span = (f"{times(known[0])} times as fast" if len(known) == 1 else
                f"{times(min(known))} to {times(max(known))} times as fast, {times(statistics.median(known))} in the "
                f"middle; slower in {slower} of {len(known)} cells")
        sentences.append(f"{name}: {span} ({where(rows)}).")
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
            title = f"{part.arguments[0]}: {case}, {where(rows)}"
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
            f"{body}</body></html>\n")
