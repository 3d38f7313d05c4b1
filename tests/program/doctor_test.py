"""wisp doctor as its users run it.

usage: doctor_test.py WISP MPIRUN…
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from launch import launch

WISP, MPIRUN = sys.argv[1], sys.argv[2:]


def run(*arguments, ranks):
    command = [*MPIRUN, "-n", str(ranks), WISP, "doctor", *arguments]
    return launch(command, timeout=60)


class Doctor(unittest.TestCase):
    def test_it_names_the_mpi_its_tags_and_what_messages_cost(self):
        result = run(ranks=2)
        self.assertEqual(result.returncode, 0, result.stderr)
        for text in ("MPI_THREAD_", "MPI_TAG_UB = ", "devices               this MPI", "within a host         α = ",
                     "across hosts          no two such",
                     "wisp reckons with", "direct messages"):
            self.assertIn(text, result.stdout)
        self.assertTrue(any(mpi in result.stdout for mpi in ("Open MPI", "MPICH", "Intel(R) MPI")))

    def test_it_works_on_one_rank(self):
        result = run(ranks=1)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("within a host         no two such ranks", result.stdout)

    def test_it_warns_of_more_ranks_than_cores(self):
        ranks = 2 * os.cpu_count() + 1
        result = run(ranks=ranks)
        self.assertIn("ranks outnumber cores", result.stdout)
        self.assertIn("For speed, start no more ranks than cores", result.stdout)

    @unittest.skipIf("openmpi" not in MPIRUN, "only Open MPI says whether it yields")
    def test_it_warns_of_waiting_without_yielding(self):
        ranks = os.cpu_count() + 1
        command = ["mpiexec.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader",
                   "--mca", "mpi_yield_when_idle", "0"]
        command += ["--allow-run-as-root"] if os.geteuid() == 0 else []
        # Each message waits for a time slice, and longer beside other work.
        result = subprocess.run([*command, "-n", str(ranks), WISP, "doctor"], capture_output=True, text=True, timeout=800)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("mpirun --mca mpi_yield_when_idle 1", result.stdout)

    def test_it_writes_its_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "doctor.json"
            self.assertEqual(run("--json", str(file), ranks=2).returncode, 0)
            figures = json.loads(file.read_text())
        self.assertEqual((figures["ranks"], figures["hosts"]), (2, 1))
        self.assertGreater(figures["latency_us_within_host"], 0)
        self.assertIsInstance(figures["warnings"], list)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
