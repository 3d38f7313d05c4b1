"""WISP_TRACE and wisp trace as users run them.

usage: trace_test.py WISP MPIRUN…
"""
import os
import pathlib
import re
import sys
import tempfile
import unittest

from launch import launch

WISP, MPIRUN = sys.argv[1], sys.argv[2:]


def run(*arguments, ranks=1, trace=None):
    environment = {**os.environ, "WISP_TRACE": str(trace)} if trace else os.environ
    return launch([*MPIRUN, "-n", str(ranks), WISP, *arguments], timeout=60, env=environment)


class Trace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "run.trace"

    def page(self, *options):
        result = run("trace", str(self.file), *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout, self.file.with_name("run.trace.html").read_text()

    def test_each_rank_writes_what_it_did(self):
        for ranks in (1, 2, 5):
            result = run("groups", ranks=ranks, trace=self.file)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(sorted(path.name for path in self.file.parent.glob("run.trace.[0-9]")),
                             [f"run.trace.{rank}" for rank in range(ranks)])
            if ranks == 1:
                self.assertIn("holds no message", self.refused(str(self.file)))
                continue
            said, page = self.page()
            self.assertRegex(said, rf"{ranks} ranks, \d+ messages, .*critical path")
            self.assertNotIn("one side is not in the trace", page)
            self.assertEqual(len(re.findall(r">rank \d+<", page)), ranks)
            self.assertIn('class="path"', page)
            self.assertIn("<td>world</td>", page)
            self.assertNotIn("http", page.replace("http://www.w3.org/2000/svg", ""))

    def test_an_earlier_run_is_left_out(self):
        for ranks in 5, 2:
            self.assertEqual(run("groups", ranks=ranks, trace=self.file).returncode, 0)
        result = run("trace", str(self.file))
        self.assertIn("2 ranks, ", result.stdout)
        self.assertIn("3 files of an earlier run", result.stderr)

    def simulate(self, *options, ranks=13):
        result = run("simulate", "collective", "--op", "bcast", "--count", "1000", "--ranks", str(ranks), "--trace",
                     str(self.file), *options)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_simulated_cluster(self):
        self.simulate()
        said, page = self.page()
        self.assertIn("13 ranks, 12 messages, ", said)
        self.assertEqual(page.count("<line "), 12)
        self.assertIn("wisp::bcast, call 1 on world", page)
        self.assertEqual(self.page("--messages", "5")[1].count("<line "), 5)
        self.assertIn("the first 5 of 12", self.page("--messages", "5")[1])
        self.assertEqual(self.page("--operations", "2")[1].count("stroke="), 2)
        self.assertIn("of 13 operations the longest 2 are drawn", self.page("--operations", "2")[1])
        self.assertLess(self.page("--begin", "9us")[1].count("<line "), 12)

    def test_every_simulated_benchmark(self):
        for benchmark in ("overlap", "range-bcast", "split-by"):
            for old in self.file.parent.glob("run.trace*"):
                old.unlink()
            result = run("simulate", benchmark, "--quick", "--ranks", "4", "--trace", str(self.file))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(" ranks, ", self.page()[0], benchmark)

    def test_a_picture_alone(self):
        self.simulate(ranks=4)
        picture = self.file.with_name("tree.svg")
        self.assertEqual(run("trace", str(self.file), "--output", str(picture)).returncode, 0)
        self.assertTrue(picture.read_text().startswith("<svg "))
        self.assertIn("rank 3", picture.read_text())

    def refused(self, *arguments):
        result = run("trace", *arguments)
        self.assertEqual(result.returncode, 2)
        return result.stderr

    def test_wrong_files(self):
        self.assertIn(f"there is no file {self.file}, and none of ranks", self.refused(str(self.file)))
        self.file.write_text("something else that is long enough")
        self.assertIn("run.trace is no trace", self.refused(str(self.file)))
        self.simulate()
        whole = self.file.read_bytes()
        self.file.write_bytes(whole[:-3])
        result = run("trace", str(self.file))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("run.trace is cut off", result.stderr)
        self.file.write_bytes(whole)
        self.assertIn("nothing is between", self.refused(str(self.file), "--begin", "5s"))
        self.assertIn("cannot be written", self.refused(str(self.file), "--output", "/no/such/folder/page.html"))
        self.assertIn("run.trace is the trace", self.refused(str(self.file), "--output", str(self.file)))
        self.assertEqual(self.file.read_bytes(), whole)

    @unittest.skipUnless((pathlib.Path(WISP).parent.parent / "lib/libwisp_preload.so").exists(), "no preload was built")
    def test_a_program_with_wisp_on_the_preload(self):
        program = ["--calls", "all", "--after", "0", "--", WISP, "groups"]
        result = run("run", *program, ranks=2, trace=self.file)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("run.trace, this one "), 1)
        for copy in "run.trace", "run.trace.copy2":
            result = run("trace", str(self.file.with_name(copy)))
            self.assertIn("2 ranks, ", result.stdout, result.stderr)

    def test_from_the_start(self):
        self.simulate()
        self.assertEqual(self.page("--begin", "0us")[1].count("<line "), 12)

    def test_a_trace_that_cannot_be_written(self):
        result = run("groups", ranks=2, trace="/no/such/folder/trace")
        self.assertEqual(result.returncode, 0, result.stderr)  # the program has nothing to do with it
        for rank in range(2):
            self.assertIn(f"the trace /no/such/folder/trace.{rank} cannot be written", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
