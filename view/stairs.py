"""Runs ./nbody view --stairs. The first step makes the bodies; then one step after another
simulates them and shows them in the browser."""
import os
import signal
import subprocess
import tempfile
from pathlib import Path

# Each of these steps differs visibly from the one before, for example by tiles, registers or a
# tree. The other steps differ too little to see.
DEFAULT = "00,01,02,03,04,06,10,11,15"
# Options for the bodies and the time step, which all steps share. Other options apply only to some
# steps, or write files.
OF_THE_START = (
    "--scenario",
    "--input",
    "--species",
    "--systems",
    "--bodies",
    "--seed",
    "--dt",
    "--softening",
    "--integrator",
)
# With these numbers of bodies, an emulated time step takes a tenth of a second, and a GPU has
# enough work.
BODIES = {"emulated": 2048, "cuda": 32768}


def refusal(words):
    """Returns the reason why these options are not allowed, or None."""
    for word in words:
        name = word.partition("=")[0]
        if name.startswith("--") and name not in OF_THE_START:
            return (
                f"{name} cannot be used with --stairs; allowed options: "
                f"{', '.join(OF_THE_START)}"
            )
    return None


def run(build, programs, port, words):
    """Returns the exit code of the viewer. If making the bodies failed, returns the exit code of
    the program that makes them."""
    if not any(word.partition("=")[0] in ("--scenario", "--input") for word in words):
        words = ["--scenario", "plummer", *words]
        if not any(word.startswith("--bodies") for word in words):
            is_cuda = build.name.endswith("cuda")
            words += ["--bodies", str(BODIES["cuda" if is_cuda else "emulated"])]
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state.csv")
        made = subprocess.run(
            [
                programs[0],
                *words,
                "--steps",
                "0",
                "--validate",
                "off",
                "--quiet",
                "--output",
                state,
            ],
            check=False,
        )
        if made.returncode != 0:
            return made.returncode
        # The view has its own process group, so that Ctrl-C reaches only this program, which then
        # interrupts the view exactly once.
        view = subprocess.Popen([build / "view" / "nbody-stairs", state, *programs, "--port", port],
                                preexec_fn=os.setpgrp)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *unused: view.send_signal(signal.SIGINT))
        return view.wait()
