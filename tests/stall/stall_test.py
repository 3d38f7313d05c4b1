"""Programs that hang or disagree: wisp says who waits for whom, or who called what.

usage: stall_test.py CASES MPIRUN…
"""
import concurrent.futures
import os
import re
import selectors
import signal
import subprocess
import sys
import time
import unittest

CASES, *MPIRUN = sys.argv[1:]
LONGEST = 20  # seconds


def listed():
    lines = subprocess.run([CASES, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split("\t") for line in lines]


def said_by(name, compared, wanted, ranks=3):
    """What the ranks write to stderr until `wanted` is in it, or they end, or time is up."""
    environment = {**os.environ, "WISP_STALL_SECONDS": "1", "WISP_CHECK": compared}
    process = subprocess.Popen([*MPIRUN, "-n", str(ranks), CASES, name], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               env=environment, start_new_session=True)
    text = ""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        begin = time.monotonic()
        while time.monotonic() - begin < LONGEST and not (wanted and re.search(wanted, text)):
            if selector.select(timeout=0.2):
                new = os.read(process.stderr.fileno(), 65536).decode(errors="replace")
                if not new:
                    break
                text += new
    with process:
        os.killpg(process.pid, signal.SIGKILL)
    return text


class StallTest(unittest.TestCase):
    def test_what_is_wrong_is_named_by_rank_and_call(self):
        unnamed = []
        wrong = [case for case in listed() if case[2]]
        with concurrent.futures.ThreadPoolExecutor(2) as two_at_a_time:  # they wait most of their time
            for (name, _, wanted), text in zip(wrong, two_at_a_time.map(lambda case: said_by(*case), wrong)):
                if not re.search(wanted, text):
                    unnamed.append(name)
                    print(f"{name}: wanted {wanted}\nsaid: {text}", file=sys.stderr)
        print(f"{len(wrong) - len(unnamed)} of {len(wrong)} named", file=sys.stderr)
        self.assertGreaterEqual(len(wrong), 60)
        self.assertEqual(unnamed, [])

    def test_where_nothing_is_wrong_nothing_is_said(self):
        for name, compared, wanted in listed():
            if not wanted:
                with self.subTest(name):
                    # Once: others may keep a rank from running for as long as a stall takes.
                    said = said_by(name, compared, wanted)
                    self.assertEqual(said and said_by(name, compared, wanted), "", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
