"""The page in a real browser: every chart draws its marks, and nothing is asked of the network.

Chromium is driven through its DevTools protocol over a pair of pipes, which needs no library.
"""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from itertools import count
from select import select
from time import monotonic, sleep

import pytest

from spanwise.adapters.functions import majority_class
from spanwise.evaluate import compare
from spanwise.streams import Abrupt

pytest.importorskip("plotly")
from spanwise.report.page import write_page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-gpu")
ON_3_AND_4 = """
import fcntl, os, sys

ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Where the browser looks for its pipes."""

PATIENCE = 30
"""Seconds without a word after which a browser is given up."""

NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND"
MARKS = """JSON.stringify(Object.fromEntries([...document.querySelectorAll(".chart")].map((chart) => [chart.id, {
    lines: chart.querySelectorAll(".scatterlayer path.js-line").length,
    points: chart.querySelectorAll(".scatterlayer .points path, .barlayer .point path").length,
    fills: chart.querySelectorAll(".scatterlayer path.js-fill").length,
    images: chart.querySelectorAll(".heatmaplayer image").length,
    height: chart.querySelector("svg.main-svg")?.getBoundingClientRect().height ?? 0,
}])))"""
INK = 'getComputedStyle(document.querySelector("#accuracy .ytitle")).fill'
BUTTONS = 'JSON.stringify([...document.querySelectorAll("[data-title]")].map((button) => button.dataset.title))'

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")


class Tab:
    """One tab of a browser at the other end of two pipes."""

    def __init__(self, write, read):
        self.write, self.read = write, read
        self.buffer, self.events, self.numbers, self.session = b"", [], count(1), {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params, **self.session}
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while (answer := self.message()).get("id") != number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def message(self):
        while b"\0" not in self.buffer:
            ready, _, _ = select([self.read], [], [], PATIENCE)
            assert ready, "the browser says nothing"
            piece = os.read(self.read, 1 << 16)
            assert piece, "the browser has gone"
            self.buffer += piece
        first, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(first)

    def open(self, path):
        self.call("Page.navigate", url=path.as_uri())
        while not self.happened("Page.loadEventFired"):
            self.events.append(self.message())

    def happened(self, *methods):
        return [event["params"] for event in self.events if event.get("method") in methods]

    def evaluate(self, expression):
        return self.call("Runtime.evaluate", expression=expression, awaitPromise=True)["result"].get("value")

    def becomes(self, expression, value):
        """Whether it evaluates to `value` before patience is over: the page answers an event when that reaches it."""
        end = monotonic() + PATIENCE
        while not (same := self.evaluate(expression) == value) and monotonic() < end:
            sleep(0.05)
        return same


@contextmanager
def browsing(folder):
    """A browser without a network, and a tab in it."""
    theirs, write = os.pipe()
    read, ours = os.pipe()
    command = [BROWSER, "--headless=new", "--no-sandbox", "--remote-debugging-pipe", NOWHERE, *QUIET]
    process = subprocess.Popen(
        [sys.executable, "-c", ON_3_AND_4, str(theirs), str(ours), *command, f"--user-data-dir={folder}"],
        pass_fds=(theirs, ours),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    os.close(ours)
    try:
        yield Tab(write, read)
    finally:
        os.close(write)
        os.close(read)
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture(scope="module")
def visit(tmp_path_factory):
    """A page of two seeds, opened: its tab."""
    folder = tmp_path_factory.mktemp("page")
    schemes = {"plain-ensemble": "plain-ensemble", "awe": "awe", "awe-prequential": "awe-prequential", "vote": "vote"}
    runs = [compare(majority_class(), Abrupt(rounds=24, every=8, size=40), schemes, seed=seed) for seed in (0, 1)]
    settings = {"file": "<script>document.title = 'broken into'</script>"}
    write_page(folder / "report.html", runs, told="awe-prequential", settings=settings, notes=["<b>bold</b>"])
    with browsing(folder / "profile") as tab:
        tab.open(folder / "report.html")
        yield tab


def test_every_chart_draws_its_marks(visit):
    marks = json.loads(visit.evaluate(MARKS))
    assert list(marks) == ["accuracy", "gain", "span", "weights", "classes", "cost"]
    assert marks["accuracy"]["lines"] >= 5
    assert marks["gain"]["lines"] >= 2
    assert marks["gain"]["fills"] == 1
    assert marks["span"]["points"] >= 2 * 23
    assert marks["weights"]["images"] == 1
    assert marks["classes"]["points"] >= 4
    assert marks["cost"]["points"] == 6
    assert all(one["height"] > 100 for one in marks.values())


def test_nothing_is_asked_of_the_network(visit):
    asked = [event["request"]["url"] for event in visit.happened("Network.requestWillBeSent")]
    assert len([url for url in asked if url.startswith("file:")]) == 1
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]


def test_nothing_goes_wrong_on_the_way(visit):
    assert not visit.happened("Runtime.exceptionThrown", "Log.entryAdded")


def test_no_script_of_the_file_runs(visit):
    assert visit.evaluate("document.title") == "script>: would choosing its span have helped?"


def test_no_button_sends_a_chart_away(visit):
    titles = json.loads(visit.evaluate(BUTTONS))
    assert "Download plot as a PNG" in titles
    assert not [title for title in titles if "Share" in title or "cloud" in title.lower()]


def test_colours_follow_the_paper(visit):
    assert visit.evaluate(INK) == "rgb(36, 41, 47)"
    visit.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert visit.becomes(INK, "rgb(213, 219, 225)")
