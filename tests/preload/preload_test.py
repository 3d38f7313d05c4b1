"""Programs that know nothing of wisp, with it under them and without: they must hear the same.

usage: preload_test.py WISP CC FC MPIRUN…     (FC may be none)
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WISP, CC, FC, *MPIRUN = sys.argv[1:]
HERE = pathlib.Path(__file__).parent
QUICK = "WISP_TEST_QUICK" in os.environ
RANKS = (1, 2, 3, 5) if QUICK else (1, 2, 3, 5, 8, 16)
SEEDS = (1, 2) if QUICK else (1, 2, 3)
CALLS = """barrier bcast reduce allreduce scan exscan reduce_scatter_block reduce_scatter gather gatherv allgather
    allgatherv scatter scatterv alltoall alltoallv alltoallw neighbor_alltoall neighbor_alltoallv neighbor_alltoallw
    neighbor_allgather neighbor_allgatherv""".split()


def launch(command, ranks, **environment):
    # Open MPI's OMPIO does not bear a second thread in MPI.
    result = subprocess.run([*MPIRUN, "-n", str(ranks), *command], capture_output=True, text=True, timeout=300,
                            env={**os.environ, "OMPI_MCA_io": "^ompio", **environment})
    return result.returncode, sorted(result.stdout.splitlines()), result.stderr


@functools.cache
def native(command, ranks):
    return launch(command, ranks)


def preloaded(command, ranks, *options):
    return launch([WISP, "run", *options, "--", *command], ranks)


def taken(report):
    """How often each call was wisp's, and MPI's, as the report says."""
    rows = re.findall(r"^  (\w+) +(\d+) +[\d.]+ +(\d+) +[\d.]+$", report, re.MULTILINE)
    return {name: (int(by_wisp), int(by_mpi)) for name, by_wisp, by_mpi in rows}


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compile(self, source, *flags, name=None):
        program = pathlib.Path(self.folder.name) / (name or source.replace(".", "_"))
        compiler = FC if source.endswith("90") else CC
        # In a folder of its own: Fortran leaves modules where it is called.
        subprocess.run([compiler, "-O1", str(HERE / source), *flags, "-o", str(program)], check=True,
                       capture_output=True, cwd=self.folder.name)
        return str(program)

    def assert_same(self, command, ranks, *options):
        code, written, said = native(tuple(command), ranks)
        self.assertEqual(code, 0, said)
        ours = preloaded(command, ranks, *options)
        self.assertEqual(ours[0], 0, ours[2])
        self.assertEqual(ours[1], written, (command, ranks, options))
        return ours[2]

    def test_random_collectives_have_the_same_results(self):
        program = self.compile("collectives.c")
        for ranks in RANKS:
            for seed in SEEDS:
                self.assert_same([program, str(seed), "150"], ranks, "--calls", "all", "--after", str(seed % 3))

    def test_nonblocking_and_persistent_collectives_have_the_same_results(self):
        program = self.compile("nonblocking.c")
        for ranks in RANKS:
            for seed in SEEDS:
                options = ("--calls", "all,iall,all_init", "--after", "0", "--report")
                counts = taken(self.assert_same([program, str(seed), "40"], ranks, *options))
                started = [counts[name][0] for name in counts if name.startswith("i") or name.endswith("_init")]
                if ranks > 1:  # a communicator of one rank is MPI's
                    self.assertGreater(sum(started), 30, counts)
        # Any blocking call prepares for them; what is not named is MPI's.
        counts = taken(self.assert_same([program, "1", "40"], 3, "--calls", "ibcast", "--after", "0", "--report"))
        self.assertGreater(counts["ibcast"][0], 0)
        self.assertEqual([name for name in counts if counts[name][0] > 0], ["ibcast"])
        counts = taken(self.assert_same([program, "1", "40"], 3, "--calls", "ibcast", "--after", "9999", "--report"))
        self.assertEqual(counts["ibcast"][0], 0)

    def test_every_call_is_taken_over_where_it_is_asked_for(self):
        program = self.compile("collectives.c")
        counts = taken(self.assert_same([program, "7", "400"], 3, "--calls", "all", "--after", "0", "--report"))
        self.assertEqual(sorted(counts), sorted(CALLS))
        self.assertTrue(all(by_wisp > 0 for by_wisp, _ in counts.values()), counts)

    def test_only_what_is_named_is_taken_over(self):
        program = self.compile("collectives.c")
        options = ("--calls", "gatherv,bcast:4-64", "--after", "0", "--report")
        counts = taken(self.assert_same([program, "7", "400"], 3, *options))
        self.assertEqual({name for name, (by_wisp, _) in counts.items() if by_wisp > 0}, {"gatherv", "bcast"})
        self.assertGreater(counts["bcast"][1], 0)
        counts = taken(self.assert_same([program, "7", "40"], 3, "--calls", "none", "--after", "0", "--report"))
        self.assertTrue(all(by_wisp == 0 for by_wisp, _ in counts.values()), counts)

    def test_a_report_says_why_nothing_was_taken(self):
        program = self.compile("collectives.c")
        for ranks, options, reason in (
            (1, ("--calls", "all"), "there is one rank"),
            (3, ("--calls", "none"), "it is not named"),
            (3, ("--calls", "all", "--after", "100000"), "no communicator had more than 100000 of them"),
        ):
            report = self.assert_same([program, "7", "40"], ranks, *options, "--report")
            self.assertIn(f"nothing was taken over: {reason}", report)
        report = self.assert_same([program, "7", "40"], 3, "--calls", "all", "--after", "0", "--report")
        self.assertNotIn("nothing was taken", report)
        threaded = self.compile("threaded.c")
        report = self.assert_same([threaded], 2, "--calls", "all", "--after", "0", "--report")
        self.assertIn("nothing was taken over: the program asks for MPI_THREAD_MULTIPLE", report)

    def test_a_table_says_what_pays(self):
        program = self.compile("collectives.c")
        table = pathlib.Path(self.folder.name) / "table"
        table.write_text("# made up\nallreduce 3 1 8 1.5\nallreduce 3 1 1048576 0.5\nscan 3 1 8 0.9\n")
        options = ("--table", os.path.relpath(table), "--after", "0", "--report")
        elsewhere = ["sh", "-c", 'cd / && exec "$0" "$@"', program]
        counts = taken(self.assert_same([*elsewhere, "7", "400"], 3, *options))
        self.assertGreater(counts["allreduce"][0], 0)
        self.assertEqual(counts["scan"][0], 0)

    @unittest.skipIf(CC.endswith("_abi") and "impi" in MPIRUN, "Intel's library for the standard ABI returns no errors")
    def test_errors_are_those_of_mpi(self):
        program = self.compile("errors.c")
        for ranks in RANKS[:4]:
            for calls, after in (("all", "0"), ("all", "1"), ("all,iall", "0")):
                self.assert_same([program], ranks, "--calls", calls, "--after", after)

    @unittest.skipIf(CC.endswith("_abi") and "impi" in MPIRUN, "Intel's library for the standard ABI returns no errors")
    def test_what_fails_is_heard_in_waits(self):
        program = self.compile("truncated.c")
        for ranks in RANKS[1:4]:
            code, written, said = preloaded([program], ranks, "--calls", "all,iall", "--after", "0")
            self.assertEqual(code, 0, said)
            self.assertEqual(written, [f"{rank}: MPI_SUCCESS" for rank in range(ranks - 1)] +
                             [f"{ranks - 1}: MPI_ERR_IN_STATUS, MPI_ERR_TRUNCATE, then MPI_SUCCESS"])

    def test_another_thread_may_call_as_it_did_before(self):
        program = self.compile("threads.c", "-pthread")
        counts = taken(self.assert_same([program], 3, "--calls", "all", "--after", "0", "--report"))
        self.assertEqual(counts["bcast"], (100, 0))

    def test_what_runs_in_finalize_may_communicate(self):
        program = self.compile("hooks.c")
        for ranks in (2, 3):
            for calls in ("all", "all,iall"):
                self.assert_same([program], ranks, "--calls", calls, "--after", "0")

    def test_what_is_in_flight_goes_on_while_others_are_made(self):
        program = self.compile("in_flight.c")
        for ranks in (2, 3, 5):
            for of in ([], ["neighbors"]):
                self.assert_same([program, *of], ranks, "--calls", "all,iall", "--after", "0")

    def test_no_arithmetic_traps(self):
        program = self.compile("traps.c", "-lm")
        for calls in ((), ("--calls", "all")):
            self.assert_same([program], 2, *calls, "--after", "0")

    def test_memory_does_not_grow(self):
        self.assert_same([self.compile("memory.c")], 2, "--calls", "all,iall", "--after", "0")

    def test_tools_are_stacked_on_both_sides(self):
        program = [self.compile("collectives.c"), "7", "100"]
        tool = self.compile("tool.c", "-shared", "-fPIC")
        library = pathlib.Path(WISP).parent.parent / "lib/libwisp_preload.so"
        _, written_by_native, _ = native(tuple(program), 3)
        settings = ["WISP_PRELOAD=bcast", "WISP_PRELOAD_AFTER=0", "WISP_PRELOAD_REPORT=1"]
        seen = {}
        for name, libraries in (("above", f"{tool}:{library}"), ("below", f"{library}:{tool}"), ("alone", tool)):
            code, written, said = launch(["env", f"LD_PRELOAD={libraries}", *settings, *program], 3)
            self.assertEqual((code, written), (0, written_by_native), name + said)
            seen[name] = int(re.search(r"the tool saw (\d+) broadcasts", said)[1])
            if name == "below":
                by_wisp, by_mpi = taken(said)["bcast"]
        # One above has all calls, and MPI gets them of it; one below has those that are left to MPI.
        settings[0] = "WISP_PRELOAD=bcast,ibcast"  # needs threads; the tool sees the program begin all the same
        code, written, said = launch(["env", f"LD_PRELOAD={library}:{tool}", *settings, *program], 3)
        self.assertEqual((code, written), (0, written_by_native), said)
        self.assertIn("the tool saw", said)
        self.assertEqual(seen["above"], seen["alone"])
        self.assertGreater(by_wisp, 0)
        self.assertLess(seen["below"], seen["alone"])

    @unittest.skipIf(FC == "none", "there is no Fortran compiler")
    def test_fortran(self):
        for name, flags in (("f08", ["-DUSE_F08"]), ("mpi", ["-DUSE_MPI"]), ("mpif", [])):
            flags += ["-cpp", "-fallow-argument-mismatch", "-w"]
            program = self.compile("collectives.f90", *flags, name=name)
            for ranks in RANKS[:4]:
                report = self.assert_same([program], ranks, "--calls", "all", "--after", "0", "--report")
                if ranks > 1:
                    self.assertEqual(taken(report)["gatherv"], (40, 0), name)

    @unittest.skipIf(FC == "none", "there is no Fortran compiler")
    def test_fortran_that_is_loaded_later(self):
        program = self.compile("loads.c", "-ldl")
        for module in ("mpi", "mpi_f08"):
            flags = ["-cpp", "-w", "-shared", "-fPIC", f"-DMODULE={module}", f"-DUSE_{module}"]
            plugin = self.compile("plugin.f90", *flags, name=module)
            for ranks in (1, 3):
                for calls in ("none", "all,iall"):
                    self.assert_same([program, plugin], ranks, "--calls", calls, "--after", "0")

    @unittest.skipIf(FC == "none", "there is no Fortran compiler")
    def test_requests_of_fortran(self):
        flags = ["-cpp", "-w", "-DCALLBACKS"]
        calls = "all,iall"
        if any("mpich" in word for word in MPIRUN):
            flags += ["-DPERSISTENT"]
            calls += ",all_init"
        else:  # Open MPI 4 has no persistent ones, and gives such a function a wrong handle
            flags += ["-DKEEPS_HANDLE"]
        program = self.compile("requests.f90", *flags)
        for ranks in RANKS[:4]:
            self.assert_same([program], ranks, "--calls", calls, "--after", "0")

    def test_wrong_settings_end_the_program_with_a_sentence(self):
        program = self.compile("errors.c")
        for options, sentence in (
                (("--calls", "gather,broadcast"), "WISP_PRELOAD: 'broadcast' is none of all, none, barrier, bcast"),
                (("--calls", "gather,,bcast"), "WISP_PRELOAD: '' is none of all, none, barrier, bcast"),
                (("--calls", "gather,"), "WISP_PRELOAD: gather,: there is nothing behind the last comma"),
                (("--calls", "none:5"), "WISP_PRELOAD: none:5: none stands alone"),
                (("--calls", "bcast:"), "WISP_PRELOAD: bcast:: sizes are most, or least-most, in bytes"),
                (("--calls", "bcast:4-"), "WISP_PRELOAD: bcast:4-: sizes are most, or least-most, in bytes"),
                (("--calls", "all,none"), "WISP_PRELOAD: all,none: none stands alone"),
                (("--calls", "bcast:64-4"), "WISP_PRELOAD: bcast:64-4: sizes are most, or least-most, in bytes")):
            code, _, said = preloaded([program], 2, *options)
            self.assertNotEqual(code, 0)
            self.assertEqual(said.count(f"wisp preload: {sentence}"), 1, said)
        table = pathlib.Path(self.folder.name) / "bad"
        table.touch()
        _, _, said = preloaded([program], 2, "--table", str(table))
        self.assertIn(f"WISP_PRELOAD_TABLE: {table} is empty", said)
        table.write_text("bcast 4 1 8\n")
        _, _, said = preloaded([program], 2, "--table", str(table))
        self.assertIn("WISP_PRELOAD_TABLE: line 1, 'bcast 4 1 8', is not 'operation ranks nodes bytes times-faster'", said)
        code, _, said = preloaded([program], 1, "--table", str(table), "--calls", "all")
        self.assertNotEqual(code, 0)
        self.assertIn("wisp run: --calls excludes --table", said)

    def test_a_program_of_another_mpi_is_told(self):
        other = {"openmpi": "mpich", "mpich": "openmpi"}.get(MPIRUN[-1])
        compiler = shutil.which(f"mpicc.{other}")
        if compiler is None:
            self.skipTest("there is one MPI")
        program = pathlib.Path(self.folder.name) / "of_other"
        subprocess.run([compiler, str(HERE / "hooks.c"), "-o", str(program)], check=True, capture_output=True)
        result = subprocess.run([*MPIRUN[:-1], other, "-n", "2", WISP, "run", "--", str(program)], capture_output=True,
                                text=True, timeout=60)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("and this program runs with another MPI", result.stderr)

    def test_options_behind_the_program_are_its_own(self):
        for command in (["--calls", "none", "echo", "--report"], ["--after=3", "--", "echo", "--report"],
                        ["echo", "--report"]):
            self.assertEqual(launch([WISP, "run", *command], 1)[:2], (0, ["--report"]))
        for command in (["echo", "[64,64]", "[]"], ["--after", "3", "--", "echo", "[64,64]", "[]"]):
            self.assertEqual(launch([WISP, "run", *command], 1)[:2], (0, ["[64,64] []"]))
        environment = ["env", "WISP_PRELOAD_REPORT=no", WISP, "run", "--", self.compile("errors.c")]
        self.assertIn("WISP_PRELOAD_REPORT = no is neither 1 nor 0", launch(environment, 2)[2])

    def test_what_cannot_be_run(self):
        code, _, said = launch([WISP, "run", "--", "/nobody/has/this"], 1)
        self.assertNotEqual(code, 0)
        self.assertIn("wisp run: /nobody/has/this: No such file or directory", said)
        code, _, said = launch([WISP, "run"], 1)
        self.assertNotEqual(code, 0)
        self.assertIn("PROGRAM is required", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
