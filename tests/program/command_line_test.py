"""What the program says of itself, and of wrong calls.

usage: command_line_test.py WISP MPIRUN…
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from launch import launch

WISP, MPIRUN = sys.argv[1], sys.argv[2:]
COMMANDS = ["doctor", "groups", "sort", "bench", "simulate", "completion", "man"]


def run(*arguments, ranks=2, **environment):
    return launch([*MPIRUN, "-n", str(ranks), WISP, *arguments], timeout=60, env={**os.environ, **environment})


class CommandLine(unittest.TestCase):
    def refuse(self, *arguments):
        """The one sentence that a wrong call is answered with."""
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        said = [line for line in result.stderr.splitlines() if line.startswith("wisp")]
        self.assertEqual(len(said), 1, result.stderr)
        return said[0]

    def test_a_mistyped_word_gets_a_suggestion(self):
        self.assertIn("no command 'grups', did you mean 'groups'?", self.refuse("grups"))
        self.assertNotIn("did you mean", self.refuse("entirely-else"))
        self.assertIn("did you mean 'gatherv'?", self.refuse("bench", "gathrv"))
        self.assertIn("did you mean 'never'?", self.refuse("sort", "a", "b", "--lines", "--progress", "nver"))

    def test_a_wrong_choice_is_said_once_with_the_list(self):
        for arguments, words in (
                (["bench", "collective", "--op", "bcst"], "--op 'bcst' is not one of barrier, bcast"),
                (["bench", "collective", "--op", "bcast", "--algorithm", "no"], "--algorithm 'no' is not one of binomial"),
                (["bench", "gatherv", "--op", "no"], "--op 'no' is not one of same, random"),
                (["bench", "gatherv", "--algorithm", "no"], "--algorithm 'no' is not one of direct"),
                (["bench", "sort", "--op", "no"], "--op 'no' is not one of uniform"),
                (["bench", "trace", "--cold"], "--cold is not for this benchmark"),
                (["bench", "temporaries", "--cold"], "--cold is not for this benchmark"),
                (["simulate", "split-by", "--ranks", "8", "--op", "split,few,string=80", "--algorithm", "radix"],
                 "--algorithm radix does not work with --op 'split,few,string=80'"),
                (["simulate", "sort", "--ranks", "4096", "--algorithm", "merge"], "merge is not simulated on 4096 ranks"),
                (["simulate", "split", "--ranks", "4", "--op", "x"], "wisp simulate split: --op is not for this benchmark"),
                (["bench", "exchange", "--algorithm", "x"], "--algorithm is not for this benchmark"),
                (["bench", "split-by", "--count", "1"], "--count is not for this benchmark"),
                (["simulate", "split", "--ranks", "4", "--joining", "nan"], "'nan' is below 0, or no number"),
                (["simulate", "split", "--ranks", "4", "--joining", "inf"], "'inf' is below 0, or no number"),
                (["simulate", "split", "--ranks", "4", "--latency", "infs"], "'infs' is no number that a computer has"),
                (["simulate", "split", "--ranks", "4", "--in-turn"], "--in-turn requires --ranks-per-node"),
                (["simulate", "split", "--ranks", "4", "--json", "x", "--trace", "x"], "x cannot be both --json and --trace"),
                (["tune", ""], "FILE is empty"),
                (["trace", "x", "--messages", "-1"], "--messages"),
                (["bench", "trace"], "WISP_TRACE names no file"),
                (["bench", "neighborhood", "--op", "no"], "KIND one of alltoall"),
                (["bench", "split-by", "--op", "no"], "split,few,int"),
                (["simulate", "collective", "--ranks", "4", "--op", "no"], "--op 'no' is not one of barrier"),
                (["simulate", "sort", "--ranks", "4", "--latency", "2"], "needs a unit")):
            self.assertIn(words, self.refuse(*arguments))

    def test_a_file_that_cannot_be_written_is_said_before_the_work(self):
        bench, simulate = ["bench", "collective", "--op", "bcast"], ["simulate", "collective", "--op", "bcast", "--ranks", "8"]
        for arguments in ([*bench, "--json"], [*simulate, "--json"], [*simulate, "--trace"], ["doctor", "--json"], ["tune"]):
            self.assertEqual(self.refuse(*arguments, "/no/such/folder/file"),
                             f"wisp {arguments[0]}: /no/such/folder/file cannot be written: No such file or directory")
            self.assertIn("/tmp cannot be written: Is a directory", self.refuse(*arguments, "/tmp"))

    def test_one_rank_simulates(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows"
            result = run("simulate", "split", "--ranks", "16", "--json", str(file), ranks=3)
            self.assertEqual(result.returncode, 0, result.stderr)
            alone = run("simulate", "split", "--ranks", "16", ranks=1)
            self.assertEqual(len(result.stdout.splitlines()), len(alone.stdout.splitlines()))
            for line in file.read_text().splitlines():
                json.loads(line)

    def test_nodes_that_some_algorithms_do_not_take(self):
        cluster = ["--ranks", "10", "--ranks-per-node", "4", "--quick"]
        self.assertIn("direct messages up to", run("simulate", "gatherv", "--op", "same", *cluster, ranks=1).stdout)
        self.assertNotIn("two_level", run("simulate", "exchange", *cluster, ranks=1).stdout)
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "trace")
            named = ["--op", "allreduce", "--algorithm", "all", "--count", "1", "--trace", file]
            self.assertEqual(run("simulate", "collective", *named, *cluster, ranks=1).returncode, 0)
            self.assertIn("10 ranks,", run("trace", file, ranks=1).stdout)

    def test_a_full_disk_is_an_error(self):
        result = run("simulate", "collective", "--op", "bcast", "--ranks", "8", "--json", "/dev/full", ranks=1)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/dev/full cannot be written", result.stderr)

        with open("/dev/full", "w") as full:  # under mpirun it is a pipe
            result = subprocess.run([WISP, "simulate", "collective", "--op", "bcast", "--ranks", "8", "--quick"],
                                    stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("wisp: standard output cannot be written", result.stderr)

    def test_what_is_wrong_on_one_rank_alone_ends_all(self):
        in_own_folder = 'cd "$1/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && shift && exec "$@"'
        with tempfile.TemporaryDirectory() as folder:
            for rank in "01":
                (pathlib.Path(folder) / rank).mkdir()
            for rank, on_rank in (("1", ""), ("0", " (on rank 1)")):
                (pathlib.Path(folder) / rank / "scratch").mkdir()
                result = launch([*MPIRUN, "-n", "2", "sh", "-c", in_own_folder, "sh", folder, WISP, "sort", "-T", "scratch",
                                 __file__, "/dev/null"], timeout=60)
                self.assertEqual(result.returncode, 2)
                self.assertEqual(result.stderr.count("wisp: "), 1, result.stderr)
                self.assertIn(f"Directory does not exist: scratch{on_rank}", result.stderr)
                (pathlib.Path(folder) / rank / "scratch").rmdir()
            other = 'exec "$@" --memory-limit ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}00M'
            result = launch([*MPIRUN, "-n", "2", "sh", "-c", other, "sh", WISP, "sort", __file__, "/dev/null"], timeout=60)
            self.assertEqual(result.returncode, 2)
            self.assertIn("wisp: the ranks were called with different arguments", result.stderr)

    def test_a_case_that_is_too_large_is_said(self):
        arguments = ["collective", "--op", "alltoallv", "--count", "2000000000"]
        for command in (["bench", *arguments], ["simulate", *arguments, "--ranks", "8"]):
            self.assertIn("alltoallv of 2000000000 elements: left out", run(*command, ranks=1).stdout)

    def test_one_rank_is_one_rank(self):
        self.assertTrue(run("groups", ranks=1).stdout.startswith("1 rank in 1 group by host\n"))
        self.assertIn("bench split: 1 rank,", run("bench", "split", "--quick", ranks=1).stdout)

    def test_every_command_shows_how_to_call_it(self):
        for command in COMMANDS:
            self.assertRegex(run(command, "--help", ranks=1).stdout, f"wisp {command}")

    def test_the_version(self):
        self.assertRegex(run("--version").stdout, r"^wisp \d+\.\d+\.\d+ on \S+")

    def test_colours_only_where_somebody_sees_them(self):
        for unsaid in ("auto", "", "yes"):
            self.assertNotIn("\033[", run("groups", WISP_COLOR=unsaid).stdout)
        self.assertIn("\033[", run("groups", WISP_COLOR="always").stdout)
        self.assertNotIn("\033[", run("groups", WISP_COLOR="never").stdout)

    def test_bash_completes_commands_options_and_values(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "wisp"
            script.write_text(run("completion", "bash", ranks=1).stdout)
            for line, expected in (("wisp gr", ["groups"]), ("mpirun -n 4 wisp sort --ty", ["--type"]),
                                   ("wisp sort --type f", ["f32", "f64"]),
                                   ("wisp sort --check --ty", ["--type"]), ("wisp bench range", ["range-bcast"])):
                words = line.split()
                ask = (f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; cd {folder}; _wisp; "
                       "printf '%s\\n' \"${COMPREPLY[@]}\"")
                said = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout.split()
                self.assertEqual(said, expected, line)
        for shell in ("zsh", "fish"):
            self.assertIn("groups", run("completion", shell, ranks=1).stdout)

    def test_the_manual_page_has_all_commands_and_no_error(self):
        page = run("man", ranks=1).stdout
        for command in COMMANDS:
            self.assertIn(f".SS {command}\n", page)
        if shutil.which("man"):
            shown = subprocess.run(["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True)
            self.assertEqual(shown.stderr, "")
            self.assertIn("--memory-limit", shown.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
