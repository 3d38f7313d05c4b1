"""Time over size as SVG: one line for each variant, medians with their spread; bars where there is no size."""
import io

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import LogFormatter  # noqa: E402

matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 11, "font.family": "sans-serif",
                            **{part: "#1d1d1f" for part in ("text.color", "axes.labelcolor", "axes.edgecolor",
                                                            "xtick.color", "ytick.color")},
                            "axes.spines.top": False, "axes.spines.right": False})
LEAST = 1e-4  # µs: what took no time has no place on a log scale
OURS = "#b3261e"
OTHERS = ["#1f5fa8", "#6a8f2b", "#8a5a9e", "#c07a12", "#3b8686", "#777777", "#a05a5a", "#4a4a8a"]


def size_text(count):
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:g} B"


class Plain(LogFormatter):
    """200 instead of 2×10², 0.1 instead of 1e-01."""

    def __call__(self, value, place=None):
        return f"{value:,.12g}" if super().__call__(value, place) else ""


def label_in_full(axis):
    """Between the powers only where there are few of them."""
    plain = Plain(minor_thresholds=(1.5, 0.4))
    axis.set_major_formatter(plain)
    axis.set_minor_formatter(plain)


def shown_times(row):
    """The median and its spread."""
    middle = max(row["median_us"], LEAST)
    return middle, min(max(row["low_us"], LEAST), middle), max(row["high_us"], middle)


def draw(rows, ours, title, x_text=size_text):
    """The figure of the rows of one case."""
    figure, axes = plt.subplots(figsize=(6.2, 4.2))
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    variants.sort(key=lambda variant: variant != ours)
    sizes = sorted({row["bytes"] for row in rows if row.get("bytes") is not None})
    colors = {v: OURS if v == ours else OTHERS[i % len(OTHERS)] for i, v in enumerate(variants)}
    if len(sizes) > 1:
        for variant in variants:
            points = sorted((r["bytes"], *shown_times(r)) for r in rows
                            if r["variant"] == variant and r.get("bytes") is not None)
            if not points:
                continue
            x, middle, low, high = zip(*points)
            axes.plot(x, middle, marker="o", markersize=3.5, linewidth=2 if variant == ours else 1.2,
                      color=colors[variant], label=variant)
            axes.fill_between(x, low, high, color=colors[variant], alpha=0.18, linewidth=0)
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes[::max(1, len(sizes) // 5)])
        axes.xaxis.set_major_formatter(lambda value, _: x_text(value))
        axes.minorticks_off()
        axes.legend(frameon=False, fontsize=10)
    else:
        values = [next(r for r in rows if r["variant"] == v) for v in variants]
        places = range(len(variants))
        times, lows, highs = zip(*(shown_times(row) for row in values))
        spread = [[time - low for time, low in zip(times, lows)], [high - time for time, high in zip(times, highs)]]
        axes.barh(places, times, xerr=spread, color=[colors[v] for v in variants], error_kw={"elinewidth": 0.8})
        axes.set_yticks(places, variants)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlim(left=min(times) / 2)
        label_in_full(axes.xaxis)
        axes.set_xlabel("µs")
    if len(sizes) > 1:
        axes.set_yscale("log")
        axes.set_ylabel("µs")
        label_in_full(axes.yaxis)
    axes.grid(True, which="major", color="#dddddd", alpha=0.5, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(title, fontsize=11, loc="left")
    figure.tight_layout()
    return figure


def svg(figure, name, follows_page=True):
    """As text; `name` keeps the ids of several drawings apart. Colours of the text follow the page, dark or light."""
    matplotlib.rcParams["svg.hashsalt"] = name
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None},
                   transparent=follows_page)
    plt.close(figure)
    text = file.getvalue()
    text = text[text.index("<svg"):]
    if follows_page:
        text = text.replace("#1d1d1f", "currentColor")
    return text.replace("figure_1", f"figure-{name}").replace("axes_1", f"axes-{name}")
