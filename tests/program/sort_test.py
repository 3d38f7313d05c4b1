"""wisp sort as its users run it: results beside Python's sort, and one clear sentence for every wrong input.

usage: sort_test.py WISP MPIRUN…
"""
import os
import random
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
        self.check(text, expected, "--lines", "--assignment", "deterministic", ranks=16)

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

    def test_wrong_inputs(self):
        good = self.path("good", struct.pack("<4I", 4, 3, 2, 1))
        odd = self.path("odd", b"12345")
        long = self.path("long", b"short\n" + b"y" * 20 + b"\nshort\n" + b"z" * 300 + b"\n")
        self.refuse("does not exist", self.path("missing"), self.output, "--type", "u32")
        self.refuse("not a regular file", self.folder, self.output, "--type", "u32")
        self.refuse("5 bytes, which is not a multiple of the element's 4", odd, self.output, "--type", "u32")
        self.refuse("--type: 'u16' is not one of i32, u32, i64, u64, f32, f64", good, self.output, "--type", "u16")
        self.refuse("the same file", good, good, "--type", "u32")
        self.refuse("the same file", good, os.path.join(self.folder, ".", "good"), "--type", "u32")
        self.refuse("is not writable", good, os.path.join(self.folder, "no", "folder"), "--type", "u32")
        self.refuse("not a regular file", good, self.folder, "--type", "u32")
        self.refuse("line 4 has 300 bytes, more than --max-line 256", long, self.output, "--lines")
        self.refuse("line 2 has 20 bytes, more than --max-line 10", long, self.output, "--lines", "--max-line", "10")
        self.refuse("is outside 1..", good, self.output, "--lines", "--max-line", "0")
        self.refuse("too large", good, self.output, "--type", "u32", "--memory-limit", "8")
        self.refuse("--key 3:2", good, self.output, "--record", "4", "--key", "3:2")
        self.refuse("--key needs --record", good, self.output, "--type", "u32", "--key", "0:2")
        self.refuse("one of --type, --record and --lines", good, self.output)
        self.refuse("one of --type, --record and --lines", good, self.output, "--lines", "--type", "u32")
        self.refuse("OUTPUT is required", good)

    def test_an_interrupted_run_leaves_nothing_behind(self):
        source = self.path("input", os.urandom(1 << 27))
        command = [*MPIRUN, "-n", "2", WISP, "sort", source, self.output, "--type", "u64"]
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
