"""wisp groups as its users run it.

usage: groups_test.py WISP MPIRUN…
"""
import socket
import sys
import unittest

from launch import launch

WISP, MPIRUN = sys.argv[1], sys.argv[2:]
# Each rank writes its number, whichever MPI has started it.
RANK = "r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; "


def run(*arguments, ranks=7):
    command = [*MPIRUN, "-n", str(ranks), WISP, "groups", *arguments]
    return launch(command, timeout=60)


class Groups(unittest.TestCase):
    def table(self, *arguments, ranks=7):
        result = run(*arguments, ranks=ranks)
        self.assertEqual(result.returncode, 0, result.stderr)
        title, blank, heading, *rows = result.stdout.splitlines()
        self.assertEqual(blank, "")
        self.assertEqual(heading.split()[:2], ["group", "size"])
        return title, [row.split(None, 2) for row in rows]

    def test_all_ranks_of_a_host_are_one_group(self):
        for ranks in (1, 2, 5):
            title, rows = self.table(ranks=ranks)
            self.assertEqual(title, f"{ranks} rank{'s' * (ranks > 1)} in 1 group by host")
            self.assertEqual(rows[0][:2], ["0", str(ranks)])
            self.assertEqual(rows[0][2].split()[0], socket.gethostname())

    def test_ranks_with_one_output_of_a_command(self):
        title, rows = self.table("--", "sh", "-c", RANK + "echo node $((r % 3 / 2))")
        self.assertIn("7 ranks in 2 groups by sh -c", title)
        self.assertEqual([row[:2] for row in rows], [["0", "5"], ["1", "2"]])
        self.assertEqual(rows[0][2].split(), ["node", "0", "0-1,3-4,6"])
        self.assertEqual(rows[1][2].split(), ["node", "1", "2,5"])

    def test_a_command_that_fails_is_a_group_of_its_own(self):
        _, rows = self.table("--", "sh", "-c", RANK + "exit $((r == 2 ? 9 : 0))", ranks=3)
        self.assertEqual(rows[1], ["1", "1", "(exit code 9)  2"])

    def test_output_counts_behind_a_zero_byte_too(self):
        _, rows = self.table("--", "sh", "-c", RANK + r"printf 'same\0\033[7m%s' $r", ranks=2)
        self.assertEqual([row[2].split() for row in rows], [[rf"same\x00\x1b[7m{r}", str(r)] for r in range(2)])

    def test_an_environment_variable(self):
        title, rows = self.table("--env", "NOBODY_HAS_SET_THIS", ranks=2)
        self.assertEqual(title, "2 ranks in 1 group by NOBODY_HAS_SET_THIS")
        self.assertIn("(not set)", rows[0][2])
        _, rows = self.table("--env", "PATH", ranks=2)
        self.assertEqual(len(rows), 1)

    def test_shared_memory(self):
        title, rows = self.table("--memory", ranks=3)
        self.assertEqual(title, "3 ranks in 1 group by shared memory")
        self.assertEqual(rows[0][:2], ["0", "3"])

    def test_wrong_arguments(self):
        result = run("--env", "PATH", "--", "hostname", ranks=2)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--env excludes", result.stderr)
        result = run("--env", "", ranks=2)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--env '' is no variable", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
