"""The plots of the README: simulated, so the same everywhere."""
from page import without_size
from plots import draw, svg
from runs import merged

PLOTS = {
    "gatherv": ("gatherv, blocks of random sizes, 3,200 simulated ranks", ["gatherv"], 3200, "random", "wisp",
                ["direct", "guideline-2"]),
    "neighborhood": ("26 neighbors, 1,024 simulated ranks", ["neighborhood", "--op", "alltoall"], 1024,
                     "alltoall,d=3,r=1", "chosen", ["straightforward", "torus"]),
    "splits": ("split into 16 groups, 2,048 simulated ranks", ["split-by", "--op", "split,few,int"], 2048,
               "split,few,int", "chosen", ["hash", "radix", "bitonic", "allgather", "gather-scatter", "cheng-256"]),
}


def rows_of_creation(wisp):
    """Time over ranks: what stands for the size is the number of ranks."""
    rows = []
    for ranks in (2, 4, 8, 16, 32):
        rows += [{**row, "bytes": ranks} for row in merged([wisp.bench(["split", "--quick"], ranks) for _ in range(3)])]
    return rows


def write_readme_plots(wisp):
    folder = wisp.root / "docs" / "plots"
    folder.mkdir(exist_ok=True)
    print("docs/plots/communicators.svg …", flush=True)
    figure = draw(rows_of_creation(wisp), "wisp", "a communicator of half of the ranks, over ranks",
                  lambda ranks: f"{ranks:g}")
    (folder / "communicators.svg").write_text(svg(figure, "communicators", follows_page=False))
    for name, (title, arguments, ranks, case, ours, others) in PLOTS.items():
        print(f"docs/plots/{name}.svg …", flush=True)
        rows = [row for row in merged([wisp.simulate([*arguments, "--quick"], ranks)])
                if without_size(row["case"]) == case and row["variant"] in [ours, *others]]
        (folder / f"{name}.svg").write_text(svg(draw(rows, ours, title), name, follows_page=False))
