"""Runs of wisp, and the rows that they print."""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile

LONGEST = 3600  # seconds of one run


class Wisp:
    """The program of one MPI, started as scripts/mpirun does."""

    def __init__(self, root, mpi):
        self.root = pathlib.Path(root)
        self.mpi = mpi

    def prepare(self, *parts):
        """Installs what is missing, and builds the program if there is none."""
        if parts:
            subprocess.run([self.root / "scripts/setup", *parts], check=True)
        if not (self.root / f"build/{self.mpi}/bin/wisp").exists():
            print("Building …", flush=True)
            subprocess.run([self.root / "scripts/build", "--mpi", self.mpi], check=True)

    def command(self, arguments, ranks):
        """What a user types in the project's folder; a simulation is one process, which MPI starts too."""
        return ["scripts/mpirun", "--mpi", self.mpi, "-n", str(ranks), f"build/{self.mpi}/bin/wisp", *arguments]

    def written(self, arguments, ranks):
        """What a run writes as JSON."""
        started = self.command(arguments, ranks)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.json"
            # A group of processes: who starts ranks may be a script, and all must end with it.
            run = subprocess.Popen([*started, "--json", str(file)], cwd=self.root, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
            try:
                _, errors = run.communicate(timeout=LONGEST)
            except BaseException as error:
                os.killpg(run.pid, signal.SIGTERM)
                if isinstance(error, subprocess.TimeoutExpired):
                    raise RuntimeError(f"{' '.join(started)} did not end within {LONGEST} s") from None
                raise
            if run.returncode != 0:
                raise RuntimeError(f"{' '.join(started)} ended with exit code {run.returncode}:\n{errors}")
            return file.read_text()

    def doctor(self, ranks):
        return json.loads(self.written(["doctor"], ranks))

    def bench(self, arguments, ranks):
        """The rows of a benchmark; each also says where and how it was made."""
        where = f"{ranks:,} {'simulated ' if self.mpi == 'smpi' else ''}ranks"
        return self._rows(["bench", *arguments], ranks, lambda row: f"{where}, {row['mpi']}")

    def simulate(self, arguments, ranks):
        """The rows of a benchmark on the simulated cluster."""
        return self._rows(["simulate", *arguments, "--ranks", str(ranks)], 1, lambda _: f"{ranks:,} simulated ranks")

    def _rows(self, arguments, ranks, where):
        rows = [json.loads(line) for line in self.written(arguments, ranks).splitlines()]
        for row in rows:
            row["command"] = " ".join(self.command(arguments, ranks))
            row["where"] = where(row)
        return rows


def positive(text):
    """A number of ranks or launches, as argparse asks for it."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)


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
    """Rows of several launches of one run as one: the median of the medians, their spread, and each of them."""
    together = {}
    for rows in launches:
        for row in rows:
            together.setdefault((row["case"], row.get("bytes"), row["variant"]), []).append(row)
    result = []
    for rows in together.values():
        medians = [row["median_us"] for row in rows]
        row = dict(rows[0])
        row["median_us"] = statistics.median(medians)
        row["low_us"] = min(medians) if len(rows) > 1 else row["min_us"]
        row["high_us"] = max(medians)
        row["launches_us"] = medians
        result.append(row)
    return result
