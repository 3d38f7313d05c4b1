"""A rank is killed, and the others go on: with an MPI that lets them (Open MPI 5).

usage: killed_test.py KILLED MPIRUN…
"""
import os
import re
import signal
import subprocess
import sys
import unittest

KILLED, *MPIRUN = sys.argv[1:]
LONGEST = 60  # seconds
SEEDS = int(os.environ.get("WISP_TEST_SEEDS", "20"))


def said_by(ranks, seed):
    environment = {**os.environ, "WISP_STALL_SECONDS": "1"}
    with subprocess.Popen([*MPIRUN, "--with-ft", "-n", str(ranks), KILLED, str(seed)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True) as process:
        try:
            return process.communicate(timeout=LONGEST)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0] + "\n(did not end)"


class KilledTest(unittest.TestCase):
    def test_whoever_depends_on_a_killed_rank_gets_an_error_and_the_others_go_on(self):
        for ranks in 2, 3, 5:
            for seed in range(SEEDS):
                with self.subTest(ranks=ranks, seed=seed):
                    text = said_by(ranks, seed)
                    going_on = re.findall(rf"rank \d: {ranks - 1} go on", text)
                    self.assertEqual(len(set(going_on)), ranks - 1, text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
