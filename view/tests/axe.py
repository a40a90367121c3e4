"""Runs axe-core in the browser of the tests, to check whether a page is accessible. ./nbody setup
and ./nbody test fetch axe-core once, and check it against the checksum in packaging/axe.txt. Tests
themselves use no network."""
import functools
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "build" / "axe"
MISSING = "axe-core is not in build/axe; ./nbody setup fetches it if there is a Chromium and pip"

RUN = """axe.run(document, {resultTypes: ["violations"]}).then(({violations}) =>
  violations.flatMap(({id, help, nodes}) =>
    nodes.map((node) => `axe, ${id}: ${help}: ${node.html.slice(0, 120)}`)))"""


@functools.cache
def source():
    """Returns the text of axe-core, or None if it was not fetched."""
    for wheel in sorted(FOLDER.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            return archive.read("axe_playwright_python/axe.min.js").decode()
    return None


def violations(browser):
    """Returns a line for each element of the visible page that violates a rule. If axe-core was not
    fetched, returns an empty list."""
    if source() is None:
        return []
    browser.call("Runtime.evaluate", expression=source())
    return browser.evaluate(RUN)
