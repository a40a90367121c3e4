"""Runs axe-core, which checks a page for accessibility, in the browser of the tests. ./nbody setup
and ./nbody test fetch it once, with a pinned checksum: packaging/axe.txt. Tests use no network."""
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
    """Returns a line for each element of the visible page that violates a rule, or nothing if
    axe-core was not fetched."""
    if source() is None:
        return []
    browser.call("Runtime.evaluate", expression=source())
    return browser.evaluate(RUN)
