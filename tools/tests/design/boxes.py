"""Opens pages in a real browser, at three widths and in both themes, and measures the visible page.
Also runs axe-core, if it was fetched."""

import sys
import time
import unittest
from pathlib import Path

from nbody_tools.arguments import ROOT

sys.path.insert(0, str(ROOT / "view" / "tests"))
import axe  # noqa: E402
import layouts  # noqa: E402
from browser import Browser  # noqa: E402

WIDTHS, HEIGHT = (390, 1024, 1440), 900
# Lists what is wrong with the visible page. Two words overlap if the boxes of their letters
# overlap. A line of text may reach two pixels into the next line.
MEASURE = """(() => {
  const problems = [], words = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth)
    problems.push(`the page is ${root.scrollWidth} px wide on a screen of ${innerWidth}`);
  const scrolls = (e) => e && e !== root && e !== document.body &&
    (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX) ||
     scrolls(e.parentElement));
  const add = (name, r, element) => {
    if (r.width < 1 || r.height < 1 || r.right < 0 || r.bottom < 0) return;
    if (scrolls(element)) return;
    if (r.left < -1 || r.right > innerWidth + 1) problems.push(`${name} leaves the screen`);
    words.push([name, r, element]);
  };
  const closed = (e) => e.closest("details:not([open])") && !e.closest("summary");
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || ["SCRIPT", "STYLE", "TITLE"].includes(element.tagName) ||
        closed(element) ||
        !element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const name = `"${node.data.trim().slice(0, 40)}"`;
    for (const r of range.getClientRects()) add(name, r, element);
  }
  for (const image of document.images)
    if (image.checkVisibility()) {
      if (image.complete && !image.naturalWidth) problems.push(`${image.alt} is not shown`);
      add(`the picture "${image.alt.slice(0, 40)}"`, image.getBoundingClientRect(), image);
    }
  words.sort((a, b) => a[1].top - b[1].top);
  words.forEach(([name, r, element], k) => {
    for (let other = k + 1; other < words.length && words[other][1].top < r.bottom - 2; ++other) {
      const [theirs, s] = words[other];
      if (Math.min(r.right, s.right) - Math.max(r.left, s.left) > 1 &&
          Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) > 4)
        problems.push(`${name} and ${theirs} overlap`);
    }
  });
  return problems;
})()"""
# Compares the colours of text with the background, for the contrast that WCAG 2.2 AA requires.
CONTRASTS = """(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = (e) => {
    if (!e) return [255, 255, 255];
    const c = parts(getComputedStyle(e).backgroundColor);
    return c.length < 4 || c[3] > 0.99 ? c : behind(e.parentElement);
  };
  const faint = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || ["SCRIPT", "STYLE"].includes(e.tagName) || !e.checkVisibility())
      continue;
    const style = getComputedStyle(e), size = parseFloat(style.fontSize);
    const least = size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5;
    const [a, b] = [light(parts(style.color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < least)
      faint.add(`"${node.data.trim().slice(0, 30)}" has a contrast of ` +
                ((a + 0.05) / (b + 0.05)).toFixed(2));
  }
  return [...faint];
})()"""


def require_browser() -> None:
    if Browser.find() is None:
        raise unittest.SkipTest("no chromium here")


def problems(page: Path | str, browser: Browser) -> list[str]:
    """Returns the problems of a page, each with the width and the theme in which it appears."""
    url = page.as_uri() if isinstance(page, Path) else page
    found = []
    for width in WIDTHS:
        for theme in ("light", "dark"):
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT,
                         deviceScaleFactor=1, mobile=False)
            browser.call("Emulation.setEmulatedMedia", features=[
                {"name": "prefers-color-scheme", "value": theme}])
            browser.open("about:blank")
            browser.open(url)
            browser.wait_for(f"location.href.startsWith('{url}') && document.readyState === "
                             "'complete'")
            # Loads all pictures now, because a picture has no height until it is loaded.
            browser.evaluate("document.querySelectorAll('img').forEach((i) => i.loading = 'eager')")
            browser.wait_for("[...document.images].every((i) => i.complete)")
            time.sleep(0.05)
            measured = browser.evaluate(MEASURE) + browser.evaluate(CONTRASTS)
            measured += axe.violations(browser)
            found += [f"{width} px, {theme}: {line}" for line in measured]
    return found


def changed_layouts(page: Path, name: str, selector: str, browser: Browser) -> list[str]:
    """Compares the layout at each width with the layout that a person accepted. Returns the
    differences."""
    found = []
    layouts.allow_fonts(browser)
    for width in WIDTHS:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT,
                     deviceScaleFactor=1, mobile=False)
        browser.open("about:blank")
        browser.open(page.as_uri())
        browser.wait_for(f"location.href === '{page.as_uri()}' && document.readyState === "
                         "'complete'")
        found.append(layouts.difference(browser, f"{name}, {width}", selector))
    layouts.allow_fonts(browser, False)
    return [difference for difference in found if difference]
