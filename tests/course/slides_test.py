#!/usr/bin/env python3
"""Checks in a browser that every slide fits its page: slides_test.py FOLDER. Exits with 77 if there
is no Chromium."""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Shows each slide in turn. A slide does not fit if it is too tall or its code is too wide.
MEASURE = """<script>addEventListener("load", () => {
  const slides = [...document.querySelectorAll("section")], wrong = [];
  slides.forEach((slide, k) => {
    slides.forEach((other) => other.classList.toggle("now", other === slide));
    const code = [...slide.querySelectorAll("pre")];
    const wide = code.some((pre) => pre.scrollWidth > pre.clientWidth + 2);
    if (slide.scrollHeight > slide.clientHeight + 2 || wide)
      wrong.push(`${k + 1}: ${slide.firstChild.textContent}`);
  });
  document.title = "measured " + JSON.stringify({slides: slides.length, wrong});
});</script></body>"""


def measured(browser, page):
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as copy:
        copy.write(page.read_text(encoding="utf-8").replace("</body>", MEASURE))
        copy.flush()
        done = subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--window-size=1280,720",
                "--virtual-time-budget=3000",
                "--dump-dom",
                f"file://{copy.name}",
            ],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
    found = re.search(r"<title>measured (.*?)</title>", done.stdout)
    return (
        json.loads(found.group(1))
        if found
        else {"slides": 0, "wrong": ["the browser did not measure it"]}
    )


def main():
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if browser is None:
        print("no Chromium here")
        sys.exit(77)
    pages = sorted(Path(sys.argv[1]).glob("[0-9]*.html"))
    problems, count = [], 0
    for page in pages:
        found = measured(browser, page)
        count += found["slides"]
        problems += [f"{page.name}, slide {slide}" for slide in found["wrong"]]
    if problems or not pages:
        sys.exit("\n".join(["do not fit:", *problems]) if pages else "there are no slides")
    print(f"{count} slides of {len(pages)} pages fit")


if __name__ == "__main__":
    main()
