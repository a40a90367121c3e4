"""Compares the layout of a page with the layout that a person accepted last. A layout is a list of
the boxes of some elements; layouts.json contains the hash of this list.

After a change, set NBODY_ACCEPT_LAYOUTS=DIR in the environment of the tests. They then write the
pictures to DIR and the hashes to layouts.json. Look at the pictures before you commit the hashes.
"""
import hashlib
import json
import os
import re
from pathlib import Path

from fixed_font import style

RECORDED = Path(__file__).with_name("layouts.json")

# Replaces what may change while the layout stays the same: numbers may have more digits on another
# machine, captions name the machine, pictures differ in size, and sentences are reworded.
PREPARE = """(style) => {
  const sheet = document.createElement("style");
  sheet.textContent = style + "img { width: 200px !important; height: 120px !important; }";
  document.head.append(sheet);
  const varying = "dd, output, #slowest, #fastest, #scale_text, figcaption, p, .adds, .proof";
  for (const e of document.querySelectorAll(varying))
    if (e.textContent.trim()) e.textContent = "12.34";
  return document.fonts.load("16px fixed").then(() => document.fonts.ready).then(() => new Promise(
    (done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))));
}"""

BOXES = """(selector) => [...document.querySelectorAll(selector)]
  .filter((e) => e.checkVisibility({visibilityProperty: true}))
  .map((e) => {
    const {left, top, width, height} = e.getBoundingClientRect();
    const name = e.tagName + "#" + e.id + "." + e.className;
    return [name, ...[left, top + scrollY, width, height].map(Math.round)].join(" ");
  }).join("\\n")"""


def allow_fonts(browser, allowed=True):
    """Allows pages that are opened from now on to use the font of the tests, although the policy of
    these pages forbids fonts."""
    browser.call("Page.setBypassCSP", enabled=allowed)


def difference(browser, name, selector):
    """Returns what is wrong with the layout of the visible page, or an empty string."""
    browser.evaluate(f"({PREPARE})({json.dumps(style())})")
    boxes = browser.evaluate(f"({BOXES})({json.dumps(selector)})")
    found = hashlib.sha256(boxes.encode()).hexdigest()[:16]
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    if pictures := os.environ.get("NBODY_ACCEPT_LAYOUTS"):
        file = re.sub(r"\W+", "_", name) + ".png"
        Path(pictures, file).write_bytes(browser.screenshot())
        text = json.dumps({**recorded, name: found}, indent=1, sort_keys=True)
        RECORDED.write_text(text + "\n", encoding="utf-8")
        return ""
    if found == recorded.get(name):
        return ""
    return f"the layout of {name} is not the one in layouts.json (see layouts.py):\n{boxes}"
