"""The page of scripts/report in a real browser.

usage: report_test.py FOLDER-OF-THE-PROJECT
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError as error:
    print(f"skipped: {error}; scripts/setup report browser installs it")
    sys.exit(77)

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "scripts" / "reporting"))
from page import page, verdict  # noqa: E402
from runs import merged  # noqa: E402
from systems import systems  # noqa: E402

SYSTEMS = ["communicators", "collectives", "irregular-blocks", "neighborhoods", "splits", "sort"]
SIZES = [8, 512, 4096]


def rows_of(part):
    """What `wisp bench` prints, with times that are known: ours 2, the others 4 at one size and 1 at the next."""
    rows = []
    for case in ("halves",) if part.arguments == ["split"] else ("first,b=1", "first,b=100", "second"):
        for place, size in enumerate(SIZES):
            for variant in [part.ours, *part.theirs]:
                time = 2.0 if variant == part.ours else (4.0, 1.0, 2.02)[place]
                rows.append({"bench": part.arguments[0], "variant": variant, "case": case, "bytes": size, "ranks": 7,
                             "min_us": time / 2, "median_us": time, "mpi": "Some MPI", "simulated": False,
                             "command": "scripts/mpirun -n 7 wisp bench <&>"})
    return merged([rows])


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        file = pathlib.Path(cls.folder.name) / "index.html"
        sections = [(system, [(part, rows_of(part)) for part in system.parts]) for system in systems()]
        file.write_text(page([("MPI", "Some MPI"), ("messages", "α = 1 µs")], sections))
        options = webdriver.ChromeOptions()
        for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
                       "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
                       f"--user-data-dir={cls.folder.name}/profile"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        cls.address = file.as_uri()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.folder.cleanup()

    def open(self, width, height):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.browser.get(self.address)

    def test_it_loads_without_an_error_and_without_a_network(self):
        self.open(1200, 900)
        self.assertEqual(self.browser.get_log("browser"), [])
        fetched = self.browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
        self.assertEqual([name for name in fetched if not name.startswith("data:")], [])

    def test_every_system_has_plots_that_are_not_empty(self):
        self.open(1200, 900)
        for system in SYSTEMS:
            section = self.browser.find_element(By.ID, system)
            plots = section.find_elements(By.CSS_SELECTOR, "figure svg")
            self.assertTrue(plots, system)
            for plot in plots:
                self.assertGreater(plot.size["width"], 200)
                self.assertGreater(plot.size["height"], 100)
                drawn = self.browser.execute_script(
                    "const inside = arguments[0].getBoundingClientRect();"
                    "return [...arguments[0].querySelectorAll('path, use')].filter(shape => {"
                    "  const box = shape.getBoundingClientRect();"
                    "  return box.width + box.height > 0 && box.left >= inside.left - 1 && box.right <= inside.right + 1;"
                    "}).length", plot)
                self.assertGreater(drawn, 20, system)
                self.assertIn("µs", plot.text)

    def test_it_says_who_wins_what_the_paper_claims_and_how_to_repeat_it(self):
        self.open(1200, 900)
        for system in SYSTEMS:
            section = self.browser.find_element(By.ID, system)
            for text in ("The paper claims.", "Seen here.", "2× faster", "2× slower", "even",
                         "Repeat: scripts/mpirun -n 7 wisp bench <&>"):
                self.assertIn(text, section.text)

    def test_a_phone_scrolls_down_only(self):
        for width in (360, 412):
            self.open(width, 800)
            self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), width)
            plot = self.browser.find_element(By.CSS_SELECTOR, "figure svg")
            self.assertGreater(plot.size["width"], 0.8 * width)


class Figures(unittest.TestCase):
    def test_winners_and_losers_are_marked_alike(self):
        self.assertEqual(verdict(3), ("faster", "3× faster"))
        self.assertEqual(verdict(1 / 3), ("slower", "3× slower"))
        self.assertEqual(verdict(1.04), ("even", "even"))
        self.assertEqual(verdict(None), ("faster", "no message"))

    def test_launches_are_merged_to_the_median_and_their_spread(self):
        rows = [[{"case": "a", "variant": "wisp", "min_us": 0.5, "median_us": time}] for time in (3, 1, 2)]
        (row,) = merged(rows)
        self.assertEqual((row["median_us"], row["low_us"], row["high_us"]), (2, 1, 3))


class RatiosOfOneBenchmark(unittest.TestCase):
    def report(self, *arguments):
        return subprocess.run([ROOT / "scripts" / "report", *arguments], capture_output=True, text=True, timeout=120)

    def test_ratios_are_printed_to_the_reference(self):
        result = self.report("--launches", "2", "--reference", "MPI_Comm_split", "-n", "2", "split", "--quick")
        self.assertEqual(result.returncode, 0, result.stderr)
        title, head, line = result.stdout.splitlines()
        self.assertIn("2 ranks, 2 launches; µs of MPI_Comm_split", title)
        self.assertEqual(head.split(), ["case", "bytes", "MPI_Comm_split", "wisp", "MPI_Comm_create_group"])
        self.assertLess(float(line.split()[2]), 1)

    def test_a_wrong_call_is_told_what_is_wrong(self):
        for arguments, words in ((["split"], "say on how many ranks (-n P)"), (["--mpi", "other"], "unknown MPI 'other'"),
                                 (["-n", "2", "no-such"], "no-such")):
            result = self.report(*arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
