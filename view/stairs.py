"""./nbody view --stairs: makes the bodies with the first step, then shows them in one step after the other."""
import os
import signal
import subprocess
import tempfile
from pathlib import Path

# A tile, registers, a tree: what each step is about is what one sees. The others differ by less than the eye notices.
DEFAULT = "00,01,02,03,04,06,10,11,15"
# What says which bodies there are, and how time goes on; the rest is about one step, or about files.
OF_THE_START = ("--scenario", "--input", "--species", "--systems", "--bodies", "--seed", "--dt", "--softening",
                "--integrator")
# So many that a step of the emulator takes a tenth of a second, and that a GPU has something to do.
BODIES = {"emulated": 2048, "cuda": 32768}


def refusal(words):
    """Why these options of a step cannot be given, or None."""
    for word in words:
        name = word.partition("=")[0]
        if name.startswith("--") and name not in OF_THE_START:
            return f"{name} does not go with --stairs; options of the bodies do: {', '.join(OF_THE_START)}"
    return None


def run(build, programs, port, words):
    """The exit code of what failed, or of the view."""
    if not any(word.partition("=")[0] in ("--scenario", "--input") for word in words):
        words = ["--scenario", "plummer", *words]
        if not any(word.startswith("--bodies") for word in words):
            is_cuda = build.name.endswith("cuda")
            words += ["--bodies", str(BODIES["cuda" if is_cuda else "emulated"])]
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state.csv")
        made = subprocess.run([programs[0], *words, "--steps", "0", "--validate", "off", "--quiet", "--output", state],
                              check=False)
        if made.returncode != 0:
            return made.returncode
        # In a group of its own: Ctrl-C is for this program, which tells the view once.
        view = subprocess.Popen([build / "view" / "nbody-stairs", state, *programs, "--port", port],
                                preexec_fn=os.setpgrp)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *unused: view.send_signal(signal.SIGINT))
        return view.wait()
