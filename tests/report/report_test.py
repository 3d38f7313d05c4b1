"""The page of scripts/report in a real browser.

usage: report_test.py FOLDER-OF-THE-PROJECT
"""
import argparse
import contextlib
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import jinja2  # noqa: F401
    import matplotlib  # noqa: F401
    import tabulate  # noqa: F401
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError as error:
    print(f"skipped: {error}; scripts/setup report browser installs it")
    sys.exit(77)

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "scripts" / "reporting"))
from main import costs_of, render_again, write_page  # noqa: E402
from page import page, ratio_of, span, summary_of, times, verdict  # noqa: E402
from ratios import print_ratios  # noqa: E402
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
                             "min_us": time / 2, "median_us": time, "mpi": "Some MPI", "where": "7 ranks, Some <MPI>",
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
        self.browser.execute_script("document.querySelectorAll('details').forEach(details => details.open = true)")

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

    def test_each_variant_has_a_line_of_its_own(self):
        self.open(1200, 900)
        part = next(part for system in systems() if system.name == "Sort" for part in system.parts)
        plot = self.browser.find_element(By.CSS_SELECTOR, "#sort figure svg")
        for variant in [part.ours, *part.theirs]:
            self.assertIn(variant, plot.text)
        lines = self.browser.execute_script(
            "return [...arguments[0].querySelectorAll('g[id^=line2d] > path')]"
            ".filter(path => !path.closest('g[id^=matplotlib]') && !path.closest('g[id^=legend]'))"
            ".map(path => path.getAttribute('style')).filter(style => style && style.includes('stroke-width: ')"
            " && !style.includes('#dddddd'))", plot)
        self.assertEqual(len(set(lines)), 1 + len(part.theirs), lines)

    def test_it_says_who_wins_what_the_paper_claims_and_how_to_repeat_it(self):
        self.open(1200, 900)
        for system in SYSTEMS:
            section = self.browser.find_element(By.ID, system)
            for text in ("The paper claims.", "Seen here.", "2 times faster", "2 times slower", "even",
                         "Repeat: scripts/mpirun -n 7 wisp bench <&>"):
                self.assertIn(text, section.text)

    def test_the_summary_comes_first_and_the_rest_is_folded(self):
        self.open(1200, 900)
        summary = self.browser.find_element(By.ID, "summary")
        for words in ("Faster. In ", "Slower. In ", "What to do.", "2 times slower than", "WISP_DIRECT_RANKS"):
            self.assertIn(words, summary.text)
        self.browser.get(self.address)  # as a reader sees it
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "details[open]"), [])
        self.assertLess(self.browser.execute_script("return document.documentElement.scrollHeight"), 2500)

    def test_dark_pages_have_light_letters_in_plots_too(self):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        self.open(1200, 900)
        for selector, style in (("body", "color"), ("figure svg text", "fill")):
            color = self.browser.execute_script(
                f"return getComputedStyle(document.querySelector('{selector}')).{style}")
            self.assertGreater(min(map(int, re.findall(r"\d+", color)[:3])), 200, selector)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def test_a_phone_scrolls_down_only(self):
        for width in (360, 412):
            self.open(width, 800)
            self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), width)
            plot = self.browser.find_element(By.CSS_SELECTOR, "figure svg")
            self.assertGreater(plot.size["width"], 0.8 * width)


class Figures(unittest.TestCase):
    def test_a_span_of_ratios_is_read_out_in_words(self):
        self.assertEqual(span([0.5, 1.5, 2]), "2 times slower to 2 times faster, 1.5 times faster in the middle")
        self.assertEqual(span([1.01, 0.99]), "even")

    def test_launches_that_disagree_are_said(self):
        part = systems()[0].parts[0]
        def rows(launches):
            return [{"case": "a", "variant": variant, "median_us": 1, "launches_us": times, "where": "here"}
                    for variant, times in ((part.ours, launches), (part.theirs[0], [2, 2, 2]))]
        self.assertEqual(summary_of([(systems()[0], [(part, rows([1, 1.1, 1]))])])["warnings"], [])
        (warning,) = summary_of([(systems()[0], [(part, rows([1, 1.5, 1]))])])["warnings"]
        self.assertIn("was not quiet", warning)

    def test_winners_and_losers_are_marked_alike(self):
        self.assertEqual(verdict(3), ("faster", "3 times faster"))
        self.assertEqual(verdict(1 / 3), ("slower", "3 times slower"))
        self.assertEqual(verdict(1.04), ("even", "even"))
        self.assertEqual(verdict(1670), ("faster", "1,670 times faster"))
        self.assertEqual(verdict(float("inf")), ("faster", "no message"))
        self.assertEqual(verdict(0), ("slower", "slower: the other takes no message"))
        self.assertEqual(times(999.7), "1,000")

    def test_a_ratio_is_the_median_of_each_launch_s_own(self):
        self.assertEqual(ratio_of({"launches_us": [10, 20, 15]}, {"launches_us": [12, 24, 30]}), 1.2)
        self.assertEqual(ratio_of({"launches_us": [0]}, {"launches_us": [0]}), 1)
        self.assertEqual(ratio_of({"launches_us": [0]}, {"launches_us": [2]}), float("inf"))

    def test_costs_of_messages_are_those_that_were_measured(self):
        self.assertEqual(costs_of({"latency_us_across_hosts": 2, "gb_per_second_across_hosts": 12.5}),
                         "across hosts α = 2.00 µs, β = 0.080 ns/byte (12.50 GB/s)")
        self.assertEqual(costs_of({}), "not measured: there is only one rank")

    def test_launches_are_merged_to_the_median_and_their_spread(self):
        rows = [[{"case": "a", "variant": "wisp", "min_us": 0.5, "median_us": time}] for time in (3, 1, 2)]
        (row,) = merged(rows)
        self.assertEqual((row["median_us"], row["low_us"], row["high_us"]), (2, 1, 3))


class Stub:
    """Benchmarks that take no time at all, or fail."""

    root, mpi = ROOT, "openmpi"

    def doctor(self, ranks):
        return {"mpi": "Some MPI", "ranks_per_core": 1, "warnings": ["beware <of> it"]}

    def bench(self, arguments, ranks):
        if arguments[0] == "sort":
            raise RuntimeError("sort broke")
        return [{"bench": arguments[0], "variant": variant, "case": "all", "bytes": size, "ranks": ranks, "min_us": 0.0,
                 "median_us": 0.0, "mpi": "Some MPI", "where": f"{ranks} ranks", "command": "scripts/mpirun"}
                for variant in ("wisp", "MPI", "MPI_Comm_split", "MPI_Gatherv", "chosen") for size in (8, 64)]

    def simulate(self, arguments, ranks):
        return [{**row, "where": f"{ranks} simulated ranks", "mark": "!2"} for row in self.bench(["any"], ranks)]


class WholePage(unittest.TestCase):
    def test_what_failed_is_said_and_the_rest_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = argparse.Namespace(launches=None, quick=True, mpi="openmpi", ranks=2, output=folder)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                with self.assertRaisesRegex(RuntimeError, "1 of .* runs failed"):
                    write_page(Stub(), arguments)
            text = (pathlib.Path(folder) / "index.html").read_text()
            render_again(pathlib.Path(folder))
            self.assertEqual((pathlib.Path(folder) / "index.html").read_text(), text)
            rows = (pathlib.Path(folder) / "rows.json").read_text().splitlines()
        self.assertGreater(len(rows), 10)
        for words in ("sort broke", "beware &lt;of&gt; it", "wisp breaks guideline 2", "4096 simulated ranks",
                      "not measured: there is only one rank", '<td class="even">even</td>'):
            self.assertIn(words, text)

    def test_a_reference_that_nobody_measured_is_refused(self):
        with self.assertRaisesRegex(RuntimeError, "nosuch is not one of wisp, MPI"):
            with contextlib.redirect_stdout(io.StringIO()):
                print_ratios(Stub(), 2, ["split"], 1, "nosuch")


class RatiosOfOneBenchmark(unittest.TestCase):
    def report(self, *arguments):
        return subprocess.run([ROOT / "scripts" / "report", *arguments], capture_output=True, text=True, timeout=120)

    def test_ratios_are_printed_to_the_reference(self):
        result = self.report("--launches", "2", "--reference", "MPI_Comm_split", "-n", "2", "split", "--quick")
        self.assertEqual(result.returncode, 0, result.stderr)
        title, head, line = result.stdout.splitlines()
        self.assertRegex(title, "^2 ranks, .*, 2 launches; µs of MPI_Comm_split")
        self.assertEqual(head.split(), ["case", "bytes", "MPI_Comm_split", "wisp", "MPI_Comm_create_group"])
        self.assertLess(float(line.split()[2]), 1)

    def test_a_wrong_call_is_told_what_is_wrong(self):
        for arguments, words in ((["split"], "say on how many ranks (-n P)"), (["--mpi", "other"], "invalid choice: 'other'"),
                                 (["--launches", "0"], "'0' is not a number above 0"), (["-n", "2"], "which benchmark"),
                                 (["-n", "2", "no-such"], "no-such"),
                                 (["-n", "2", "split", "--count", "x"], "--count: Value x not in range")):
            result = self.report(*arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
