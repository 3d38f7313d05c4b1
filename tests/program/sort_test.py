"""wisp sort as its users run it: results beside Python's sort, and one clear sentence for every wrong input.

usage: sort_test.py WISP MPIRUN…
"""
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

WISP, MPIRUN = sys.argv[1], sys.argv[2:]


def run(*arguments, ranks=3):
    return subprocess.run([*MPIRUN, "-n", str(ranks), WISP, *arguments], capture_output=True, text=True, timeout=300)


class Sort(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.output = self.path("output")

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def check(self, content, expected, *options, ranks=3):
        source = self.path("input", content)
        result = run("sort", source, self.output, "--check", *options, ranks=ranks)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.output, "rb") as file:
            self.assertEqual(file.read(), expected)
        self.assertEqual(sorted(os.listdir(self.folder)), ["input", "output"])
        return result

    def refuse(self, sentence, *arguments, ranks=3):
        before = sorted(os.listdir(self.folder))
        result = run("sort", *arguments, ranks=ranks)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        said = [line for line in result.stderr.splitlines() if line.startswith("wisp")]
        self.assertEqual(len(said), 1, result.stderr)
        self.assertIn(sentence, said[0])
        self.assertEqual(sorted(os.listdir(self.folder)), before, "something was left behind")

    def test_numbers_of_every_type(self):
        generator = random.Random(1)
        for name, code, make in [
            ("i32", "i", lambda: generator.randint(-(2**31), 2**31 - 1)),
            ("u32", "I", lambda: generator.randint(0, 2**32 - 1)),
            ("i64", "q", lambda: generator.randint(-(2**63), 2**63 - 1)),
            ("u64", "Q", lambda: generator.choice([1, 2, 2**64 - 1])),
            ("f32", "f", lambda: float(generator.randint(-1000, 1000))),
            ("f64", "d", lambda: generator.gauss(0, 1)),
        ]:
            values = [make() for _ in range(1001)]
            with self.subTest(name):
                self.check(struct.pack(f"<1001{code}", *values), struct.pack(f"<1001{code}", *sorted(values)),
                           "--type", name)

    def test_nan_comes_last(self):
        nan = float("nan")
        self.check(struct.pack("<4d", nan, 2, nan, 1), struct.pack("<4d", 1, 2, nan, nan), "--type", "f64")

    def test_records_by_key(self):
        generator = random.Random(2)
        for width, first, last in [(100, 0, 10), (7, 2, 5), (16, 0, 16)]:
            records = [generator.randbytes(width) for _ in range(500)]
            expected = sorted(records, key=lambda record: (record[first:last], record))
            with self.subTest(width):
                self.check(b"".join(records), b"".join(expected), "--record", str(width), "--key", f"{first}:{last}")

    def test_lines(self):
        generator = random.Random(3)
        alphabet = [chr(c) for c in range(97, 123)] + ["é", "ß", " ", "Z"]
        lines = ["".join(generator.choices(alphabet, k=generator.randint(0, 30))).encode() for _ in range(3000)]
        lines += [b"", b"", b"a", b"a\0", b"a\0b", b"\xff\xfe", b"x" * 256]
        expected = b"".join(line + b"\n" for line in sorted(lines))
        text = b"".join(line + b"\n" for line in lines)
        for ranks in (1, 2, 5):
            with self.subTest(ranks):
                self.check(text, expected, "--lines", ranks=ranks)
        self.check(text[:-1], expected, "--lines")  # the last line need not end
        self.check(text, expected, ranks=16)  # lines, if nothing is said

    def test_lines_of_any_length(self):
        generator = random.Random(4)
        lines = [generator.randbytes(generator.choice([3, 50, 5000])).replace(b"\n", b"") for _ in range(500)]
        lines += [b"x" * 3_000_000, b"x" * 2_999_999 + b"w", b"y"]
        generator.shuffle(lines)
        self.check(b"\n".join(lines), b"".join(line + b"\n" for line in sorted(lines)), ranks=5)
        self.check(b"z" * 2_000_000, b"z" * 2_000_000 + b"\n", ranks=5)  # most ranks have no line

    def sort_as_gnu_does(self, text, *options, ranks=3):
        expected = subprocess.run(["sort", *options], input=text, capture_output=True, check=True,
                                  env={**os.environ, "LC_ALL": "C"}).stdout
        with self.subTest(options):
            source = self.path("input", text)
            result = run("sort", source, self.output, *options, ranks=ranks)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.output, "rb") as file:
                self.assertEqual(file.read(), expected)

    def test_options_as_of_sort(self):
        generator = random.Random(5)
        words = [b"a", b"A", b"ab", b"b", b"-1", b"10", b"9", b"009.50", b"-0.5", b".5", b"1e3", b"", b"a\0", b"-", b"0"]
        def line():
            blanks = generator.choice([b"", b"", b" ", b"\t "])
            return blanks + generator.choice([b" ", b",", b"  "]).join(generator.choices(words, k=generator.randint(0, 4)))
        text = b"".join(line() + b"\n" for _ in range(2000))
        for options in ["-r", "-u", "-n", "-n -r", "-n -s", "-n -u", "-r -u", "-s -n -r", "-k 2", "-k 2,2", "-k 2,2n",
                        "-k 2n -k 1,1r", "-t , -k 2,2 -s", "-t , -k 2,2nr -u", "-k 1.2,1.3", "-k 1b,1b -r", "-k 2b,2.1b",
                        "-t , -k 2.2", "-t , -k 1,1f -k 2", "-k 1f -s -r", "-t , -k 3,3 -k 1,2 -r", "-n -k 1,1 -k 2,2r",
                        "-t , -k 2,1", "-k 1,1f -u"]:
            self.sort_as_gnu_does(text, *options.split())

    def test_numbers_and_records_with_options(self):
        generator = random.Random(6)
        values = [generator.randint(-50, 50) for _ in range(2000)]
        pack = lambda numbers, code: struct.pack(f"<{len(numbers)}{code}", *numbers)
        for name, code in [("i32", "i"), ("i64", "q"), ("f32", "f"), ("f64", "d")]:
            self.check(pack(values, code), pack(sorted(values, reverse=True), code), "--type", name, "-r")
            self.check(pack(values, code), pack(sorted(set(values)), code), "--type", name, "-u")
            self.check(pack(values, code), pack(sorted(set(values), reverse=True), code), "--type", name, "-u", "-r")
        zeros = [generator.choice([0.0, -0.0, 1.0]) for _ in range(500)]  # of which two are equal
        for code, name in (("f", "f32"), ("d", "f64")):
            self.check(pack(zeros, code), pack(sorted(zeros), code), "--type", name, "-s")
            self.check(pack(zeros, code), pack(sorted(zeros, reverse=True), code), "--type", name, "-s", "-r")
            first_zero = next(zero for zero in zeros if zero == 0)
            self.check(pack(zeros, code), pack([first_zero, 1.0], code), "--type", name, "-u")
        records = [bytes(generator.choices(b"abc", k=5)) + generator.randbytes(2) for _ in range(3000)]
        key = lambda record: record[1:3]
        first = {}
        for record in records:
            first.setdefault(key(record), record)
        self.check(b"".join(records), b"".join(sorted(records, key=key)), "--record", "7", "--key", "1:3", "-s")
        self.check(b"".join(records), b"".join(sorted(records, key=lambda r: (key(r), r), reverse=True)), "--record", "7",
                   "--key", "1:3", "-r")
        self.check(b"".join(records), b"".join(first[k] for k in sorted(first)), "--record", "7", "--key", "1:3", "-s", "-u")
        wide = [generator.randbytes(10_000) for _ in range(200)]
        self.check(b"".join(wide), b"".join(sorted(wide)), "--record", "10000")

    def test_streams(self):
        if "openmpi5" in MPIRUN:
            self.skipTest("the launcher of Open MPI 5.0.11 loses the end of a standard input of some KB, also that of cat")
        generator = random.Random(8)
        # MPICH's mpiexec gives up when rank 0 has not read what a pipe holds, 64 KiB, by the time that it starts.
        lines = [generator.randbytes(generator.randint(0, 40)).replace(b"\n", b" ") for _ in range(2_500)]
        expected = b"".join(line + b"\n" for line in sorted(lines))
        for ranks in (1, 3, 5):
            result = subprocess.run([*MPIRUN, "-n", str(ranks), WISP, "sort", "-", "-", "--memory-limit", "4M"],
                                    input=b"\n".join(lines), capture_output=True, timeout=300)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, expected)
        for ranks in (1, 3):
            result = subprocess.run([*MPIRUN, "-n", str(ranks), WISP, "sort", "-", "-", "--type", "u32"],
                                    input=struct.pack("<5I", 5, 3, 1, 4, 2), capture_output=True, timeout=300)
            self.assertEqual(result.stdout, struct.pack("<5I", 1, 2, 3, 4, 5), result.stderr)
        result = subprocess.run([*MPIRUN, "-n", "3", WISP, "sort", "-", self.output, "--type", "u32"], input=b"12345",
                                capture_output=True, timeout=300)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"standard input has 5 bytes, which is not a multiple of the element's 4", result.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_more_than_memory(self):
        generator = random.Random(9)
        numbers = [generator.getrandbits(32) for _ in range(6_000_000)]
        pack = lambda numbers: struct.pack(f"<{len(numbers)}I", *numbers)
        self.check(pack(numbers), pack(sorted(numbers)), "--type", "u32", "--memory-limit", "4M", ranks=2)
        lines = [b"%d" % number for number in numbers[:2_000_000]]
        temporary = os.path.join(self.folder, "..")
        self.check(b"\n".join(lines), b"".join(line + b"\n" for line in sorted(lines)), "--memory-limit", "4M", "-T",
                   temporary, ranks=2)

    def test_a_limit_of_the_control_group(self):
        # As schedulers and containers set it: beyond it, the ranks are killed, and pages of files count too.
        parent, limit = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        if not os.path.isdir(parent):
            parent, limit = ("/sys/fs/cgroup", "memory.max")
        group = f"{parent}/wisp-sort-test-{os.getpid()}"
        try:
            os.mkdir(group)
            self.addCleanup(os.rmdir, group)
            with open(f"{group}/{limit}", "w") as file:
                file.write(str(160 << 20))
        except OSError as error:
            self.skipTest(f"no control group can be made: {error}")

        def enter():
            with open(f"{group}/cgroup.procs", "w") as file:
                file.write(str(os.getpid()))

        source = self.path("input", os.urandom(256 << 20))
        result = subprocess.run([*MPIRUN, "-n", "1", WISP, "sort", source, self.output, "--type", "u64", "--check"],
                                text=True, capture_output=True, timeout=300, preexec_fn=enter)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("checked: in order", result.stdout)

    def test_no_room_for_the_output(self):
        if "impi" in MPIRUN:
            self.skipTest("the shared memory of Intel MPI is a file that is larger than the limit")
        most = 64 << 20  # what a file may have, as on a full disk
        source = self.path("input", random.Random(10).randbytes(most + (1 << 20)))

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        for options in (["--type", "u32"], ["--lines", "--memory-limit", "4M"]):
            result = subprocess.run([*MPIRUN, "-n", "3", WISP, "sort", source, self.output, *options], text=True,
                                    capture_output=True, timeout=100, preexec_fn=limit, restore_signals=False)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(f"wisp sort: writing {self.output} failed: File too large", result.stderr)
            self.assertEqual(os.listdir(self.folder), ["input"])

    def test_many_zeros(self):
        zeros = bytes(400_000)
        self.check(zeros, zeros + b"\n", "-r", "--lines", ranks=1)

    def test_lines_of_several_ranks(self):
        for lines in ([b"b" * 1_000_000, b"a"], [b"a" * 900_000, b"c" * 700_000], [b"", b"b" * 400_000, b"", b"a"]):
            for end in (b"", b"\n"):
                self.check(b"\n".join(lines) + end, b"\n".join(sorted(lines)) + b"\n", "--check", ranks=5)

    def test_the_first_of_equal_records(self):
        for options in ([], ["-r"], ["-s"]):
            self.check(b"ab3ab1ab2", b"ab3", "--record", "3", "--key", "0:2", "-u", *options)

    def test_nothing(self):
        self.check(b"", b"", "--lines")
        self.check(b"", b"", "--type", "f64")
        self.check(b"one\n", b"one\n", "--lines", ranks=5)

    def test_the_summary_says_how_many_each_rank_has(self):
        result = self.check(struct.pack("<10I", *range(10)), struct.pack("<10I", *range(10)), "--type", "u32")
        self.assertIn("sorted 10 elements on 3 ranks, 3 or 4 each", result.stdout)

    def test_an_output_that_exists_is_replaced(self):
        self.path("output", b"old")
        self.check(struct.pack("<2I", 9, 4), struct.pack("<2I", 4, 9), "--type", "u32")

    def test_an_output_that_is_a_link_stays_one(self):
        target = self.path("target", b"old")
        os.symlink(target, self.output)
        result = run("sort", self.path("input", b"b\na\n"), self.output)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(os.path.islink(self.output))
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"a\nb\n")

        os.remove(target)  # and what it names is made
        result = run("sort", self.path("input", b"d\nc\n"), self.output)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(os.path.islink(self.output))
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"c\nd\n")

    def test_an_output_that_is_a_link_to_itself(self):
        os.symlink("output", self.output)
        self.refuse("is not writable: Too many levels of symbolic links", self.path("input", b"b\na\n"), self.output)
        self.assertTrue(os.path.islink(self.output))

    def test_the_longest_name(self):
        self.output = self.path("o" * 255)
        result = run("sort", self.path("input", b"b\na\n"), self.output)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.output, "rb") as file:
            self.assertEqual(file.read(), b"a\nb\n")

    def test_options_may_stand_anywhere(self):
        given = self.path("input", b"a 2\nb 1\nc 3\n")
        for arguments in [("-k", "2", given, self.output, "-r"), (given, "-k", "2", self.output, "-r"),
                          ("-r", "-k", "2", "-k", "1", given, self.output)]:
            result = run("sort", *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.output, "rb") as file:
                self.assertEqual(file.read(), b"c 3\na 2\nb 1\n")

    def test_wrong_inputs(self):
        self.refuse("has no room for four", self.path("thin", b"1234"), self.output, "--record", "1T")
        os.remove(self.path("thin"))
        good = self.path("good", struct.pack("<4I", 4, 3, 2, 1))
        odd = self.path("odd", b"12345")
        self.refuse("does not exist", self.path("missing"), self.output, "--type", "u32")
        self.refuse("not a regular file", self.folder, self.output, "--type", "u32")
        self.refuse("5 bytes, which is not a multiple of the element's 4", odd, self.output, "--type", "u32")
        self.refuse("--type: 'u16' is not one of i32, u32, i64, u64, f32, f64", good, self.output, "--type", "u16")
        self.refuse("the same file", good, good, "--type", "u32")
        self.refuse("the same file", good, os.path.join(self.folder, ".", "good"), "--type", "u32")
        self.refuse("is not writable", good, os.path.join(self.folder, "no", "folder"), "--type", "u32")
        self.refuse("not a regular file", good, self.folder, "--type", "u32")
        self.refuse("--memory-limit 8 is less than the 4194304 bytes", good, self.output, "--memory-limit", "8")
        self.refuse("--key 3:2", good, self.output, "--record", "4", "--key", "3:2")
        self.refuse("--key needs --record", good, self.output, "--type", "u32", "--key", "0:2")
        self.refuse("one of --lines, --type and --record", good, self.output, "--lines", "--type", "u32")
        self.refuse("-n, -t and -k are for lines", good, self.output, "-n", "--type", "u32")
        self.refuse("-t 'ab' is not one character", good, self.output, "-t", "ab")
        self.refuse("-k 0: it is not F[.C]", good, self.output, "-k", "0")
        self.refuse("-k 1x: 'x' is not one of b, f, n, r", good, self.output, "-k", "1x")
        self.refuse("-k 1.0: characters count from 1", good, self.output, "-k", "1.0")
        self.refuse("--check needs an OUTPUT", good, "-", "--check")
        self.refuse("--temporary-directory", good, self.output, "-T", os.path.join(self.folder, "none"))
        self.refuse("OUTPUT is required", good)
        self.refuse("OUTPUT is empty", good, "")

    def test_an_interrupted_run_leaves_nothing_behind(self):
        source = self.path("input", os.urandom(1 << 27))
        command = [*MPIRUN, "-n", "2", WISP, "sort", source, self.output, "--record", "8"]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while not any(".wisp-" in name for name in os.listdir(self.folder)) and time.monotonic() < deadline:
            time.sleep(0.002)
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=60)
        self.assertEqual(os.listdir(self.folder), ["input"])

    def test_progress_is_silent_when_piped(self):
        result = self.check(struct.pack("<2I", 9, 4), struct.pack("<2I", 4, 9), "--type", "u32")
        self.assertEqual([line for line in result.stderr.splitlines() if "wisp" in line], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
