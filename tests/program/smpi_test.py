"""wisp on the ranks that SMPI simulates.

usage: smpi_test.py WISP MPIRUN…
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WISP, MPIRUN = sys.argv[1], sys.argv[2:]


def start(*options, ranks, arguments):
    command = [*MPIRUN, *options, "-n", str(ranks), WISP, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def times(*options, ranks, arguments):
    """Microseconds of each variant, in each case and size."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "rows.json"
        result = start(*options, ranks=ranks, arguments=["bench", *arguments, "--json", str(file)])
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        rows = [json.loads(line) for line in file.read_text().splitlines()]
    return {(row["case"], row.get("bytes"), row["variant"]): row["median_us"] for row in rows}


class Smpi(unittest.TestCase):
    def test_a_message_takes_its_latency_and_two_overheads(self):
        barrier = times(ranks=16, arguments=["collective", "--op", "barrier"])
        for variant in ("wisp", "wisp-nonblocking", "wisp-persistent"):
            self.assertAlmostEqual(barrier["barrier", 0, variant], 4 * (0.5 + 1 + 0.5), delta=0.05)

    def test_times_are_the_same_in_every_run(self):
        for benchmark in (["gatherv", "--count", "1"], ["sort", "--op", "equal", "--count", "2"], ["split", "--quick"]):
            first, second = (times(ranks=12, arguments=benchmark) for _ in range(2))
            self.assertTrue(first)
            self.assertEqual(first, second)

    def test_selectors_and_platforms_differ(self):
        gather = ["collective", "--op", "gather", "--count", "512"]
        native = {selector: times("--selector", selector, ranks=48, arguments=gather)["gather", 4096, "MPI"]
                  for selector in ("ompi", "mpich", "mvapich2", "impi")}
        self.assertGreater(len(set(native.values())), 1)
        flat, nodes = (times("--platform", platform, ranks=48, arguments=gather)["gather", 4096, "wisp"]
                       for platform in ("flat", "nodes"))
        self.assertNotEqual(flat, nodes)

    def test_doctor_knows_the_platform(self):
        result = start("--platform", "nodes", ranks=32, arguments=["doctor"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("SMPI (nodes, as ompi)", result.stdout)

    def test_programs_with_the_preload_in_them_have_the_same_results_sooner(self):
        folder = pathlib.Path(WISP).parent
        if not (folder / "patterns_with_wisp").exists():
            self.skipTest("the preload is not built")

        def results(program, pattern):
            command = [*MPIRUN, "--platform", "nodes", "-n", "64", str(folder / program), pattern, "10"]
            result = subprocess.run(command, capture_output=True, text=True, timeout=120)
            lines = re.findall(r"\d+ [0-9a-f]+(?=\n)", result.stdout)
            return sorted(lines), float(re.search(r": ([\d.]+) microseconds", result.stderr)[1])

        for pattern in ("gather", "scatter", "alltoallv"):
            native, native_time = results("patterns", pattern)
            ours, our_time = results("patterns_with_wisp", pattern)
            self.assertEqual(len(ours), 64)
            self.assertEqual(ours, native)
            self.assertLess(2 * our_time, native_time)  # virtual: the same in every run

    def test_what_it_does_not_know_is_an_error(self):
        for options, words in ((["--platform", "ring"], "unknown platform 'ring'"),
                               (["--selector", "none"], "unknown selector 'none'"),
                               (["--mpi", "openmpi", "--selector", "mpich"], "--selector is for --mpi smpi")):
            result = start(*options, ranks=2, arguments=["doctor"])
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
