"""Runs of wisp, and the rows that they print."""
import json
import os
import pathlib
import subprocess
import tempfile


class Wisp:
    """The program of one MPI, started as scripts/mpirun does."""

    def __init__(self, root, mpi):
        self.root = pathlib.Path(root)
        self.mpi = mpi

    def command(self, arguments, ranks):
        """What a user types in the project's folder; simulations need no ranks."""
        program = f"build/{self.mpi}/bin/wisp"
        if ranks is None:
            return [program, *arguments]
        return ["scripts/mpirun", "--mpi", self.mpi, "-n", str(ranks), program, *arguments]

    def written(self, arguments, ranks):
        """What a run writes as JSON."""
        started = self.command(arguments, 1 if ranks is None else ranks)  # a plain start needs MPI's leave as root
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.json"
            result = subprocess.run([*started, "--json", str(file)], cwd=self.root, capture_output=True, text=True,
                                    timeout=3600, stdin=subprocess.DEVNULL)
            if result.returncode != 0:
                raise RuntimeError(f"{' '.join(started)} ended with exit code {result.returncode}:\n{result.stderr}")
            return file.read_text()

    def doctor(self, ranks):
        return json.loads(self.written(["doctor"], ranks))

    def rows(self, arguments, ranks):
        """The rows of a benchmark; each also says how it was made."""
        rows = [json.loads(line) for line in self.written(arguments, ranks).splitlines()]
        for row in rows:
            row["command"] = " ".join(self.command(arguments, ranks))
            row["simulated"] = arguments[0] == "simulate" or self.mpi == "smpi"
        return rows


def cores():
    return len(os.sched_getaffinity(0))


def machine():
    """The processor, the cores and the memory, for people."""
    name = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) / 1024**2
    return f"{name}, {cores()} cores, {memory:.0f} GiB"


def merged(launches):
    """Rows of several launches of one run as one: the median of the medians, and their spread."""
    together = {}
    for rows in launches:
        for row in rows:
            together.setdefault((row["case"], row.get("bytes"), row["variant"]), []).append(row)
    result = []
    for rows in together.values():
        medians = sorted(row["median_us"] for row in rows)
        row = dict(rows[0])
        row["median_us"] = medians[len(medians) // 2]
        row["low_us"] = min(medians) if len(rows) > 1 else row["min_us"]
        row["high_us"] = max(medians)
        result.append(row)
    return result
