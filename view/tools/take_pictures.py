#!/usr/bin/env python3
"""Takes the screenshots for docs/view.md and docs/inspect.md in a headless Chromium.

    python3 view/tools/take_pictures.py BUILD [FOLDER]

FOLDER is docs/figures by default. BUILD must contain step00_cpu_omp, cpu_tree, the
default steps of --stairs, nbody-stairs, nbody-view and inspect_step03_tiling.
"""
import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv[1]).resolve()
FOLDER = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "figures"
os.environ["NBODY_PROGRAM"] = str(BUILD / "step00_cpu_omp" / "step00_cpu_omp")
sys.path[:0] = [str(ROOT / "view" / "tests"), str(ROOT / "tools")]
from browser import Browser  # noqa: E402
from nbody_tools.inspection.as_json import as_json  # noqa: E402
from nbody_tools.inspection.page import page_of  # noqa: E402
from nbody_tools.inspection.trace import inspect_program  # noqa: E402
from server_test import Run  # noqa: E402

STEPS = ("00", "01", "03", "11", "15")


def save(browser, name):
    # The picture keeps all colours. With fewer colours, the ramp in a legend would show colours
    # that the colour map does not contain.
    picture = Image.open(io.BytesIO(browser.screenshot())).convert("RGB")
    picture.save(FOLDER / name, lossless=True, method=6)
    print(FOLDER / name)


def open_run(browser, folder, program, *words):
    """Opens the exported page of a run."""
    subprocess.run([BUILD / program, *words, "--snapshot-dir", folder, "--validate", "off",
                    "--quiet"], check=True)
    page = Path(folder, "page.html")
    subprocess.run([BUILD / "view" / "nbody-view", *sorted(Path(folder).glob("*.bin")), "--export",
                    page], check=True, stdout=subprocess.DEVNULL)
    browser.open(page.as_uri())
    browser.wait_for("app && app.survey !== null")


def take_collision(browser):
    """Takes a picture of the disks of two galaxies with their tails, in an exported page."""
    with tempfile.TemporaryDirectory() as folder:
        open_run(browser, folder, "cpu/tree/cpu_tree", "--scenario", "collision",
                 "--bodies", "30000", "--dt", "0.1", "--steps", "420", "--theta", "1",
                 "--force-tolerance", "0.03", "--snapshot-every", "20")
        browser.evaluate("app.source.paused = true; app.source.show(19); app.nextColour();"
                         "document.querySelectorAll('.swatch')[1].click(); app.setStatus();"
                         "app.fit()")
        time.sleep(2)
        save(browser, "view.webp")


def take_cells(browser):
    """Takes a picture of the cells that one body of a disk interacts with."""
    with tempfile.TemporaryDirectory() as folder:
        open_run(browser, folder, "step00_cpu_omp/step00_cpu_omp", "--scenario", "kuzmin",
                 "--bodies", "3000", "--steps", "1", "--snapshot-every", "1")
        browser.evaluate("app.source.paused = true; element('cells').value = 'body';"
                         "app.source.show(1)")
        time.sleep(1)
        browser.drag((440, 300), (440, 300))  # chooses the body that is drawn there
        time.sleep(1)
        save(browser, "view_cells.webp")


def take_controls(browser):
    """Takes a picture with trails and the menu. Key D has made the time step so long that the
    energy error is large."""
    with Run("--scenario", "plummer", "--bodies", "1000", "--seed", "3") as run:
        browser.open(run.address)
        browser.wait_for("app && app.source.status.energy !== null")
        browser.press("t")
        browser.press("m")
        for _ in range(6):
            browser.press("d")
        browser.wait_for("app.source.status.energy && app.source.status.energy.time > "
                         "app.source.status.energy.since + 1")
        save(browser, "view_controls.webp")


def take_stairs(browser):
    command = (
        sys.executable,
        ROOT / "view" / "view.py",
        "--step",
        "00",
        "--build",
        BUILD,
        "--port",
        "0",
        "--stairs",
        ",".join(STEPS),
    )
    with Run("--scenario", "plummer", "--bodies", "2048", command=command) as run:
        browser.open(run.address)
        for k in range(len(STEPS)):
            browser.wait_for("app && app.stairs.count > 0")
            browser.press(str(k + 1))
            browser.wait_for(f"app.stairs.running === {k} && "
                             f"/\\d/.test(app.stairs.rows[{k}].children[1].textContent)")
            browser.wait_for(f"/e[-+][1-9]/.test(app.stairs.rows[{k}].children[3].textContent)")
            time.sleep(3)
        browser.press("f")
        save(browser, "view_stairs.webp")


def take_block(browser, name="inspect_page.webp"):
    words = [
        "--scenario",
        "galaxies",
        "--systems",
        "2",
        "--bodies",
        "1024",
        "--steps",
        "1",
        "--validate",
        "off",
        "--quiet",
    ]
    found = inspect_program(BUILD / "step03_tiling" / "inspect_step03_tiling", words, picture=True)
    page = Path(os.environ.get("TMPDIR", "/tmp"), "inspect_page.html")
    page.write_text(
        page_of("step03_tiling: 2 x 1024 bodies, 1 time step", as_json(found)), encoding="utf-8"
    )
    browser.open(page.as_uri())
    browser.wait_for("page.kernel")
    browser.press("j")
    save(browser, name)
    page.unlink()


def main():
    for take, size, theme in (
        (take_collision, (1200, 720), "dark"),
        (take_cells, (1200, 720), "dark"),
        (take_controls, (1200, 720), "dark"),
        (take_stairs, (1500, 760), "dark"),
        (take_block, (1400, 1010), "light"),
        (lambda browser: take_block(browser, "inspect_page_dark.webp"), (1400, 1010), "dark"),
    ):
        with Browser(f"--window-size={size[0]},{size[1]}") as browser:
            browser.call(
                "Emulation.setDeviceMetricsOverride",
                width=size[0],
                height=size[1],
                deviceScaleFactor=1,
                mobile=False,
            )
            browser.call("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": theme}])
            take(browser)


if __name__ == "__main__":
    main()
