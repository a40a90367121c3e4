"""Defines the colours, sizes and captions of all figures, and saves figures.

Colours come from figures/colours.py. Text is large enough to be read when a figure is shown at half
its size.
"""

from __future__ import annotations

import os
import re
import textwrap
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterator, Optional, Sequence

import matplotlib

matplotlib.use("Agg")  # opens no window, so it also works on servers
import matplotlib.pyplot as pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402
from PIL import Image  # noqa: E402  (matplotlib itself needs it)

from nbody_tools.arguments import ToolError  # noqa: E402
from nbody_tools.design.themes import both_themes  # noqa: E402
from nbody_tools.design.tokens import colour, value  # noqa: E402
from nbody_tools.figures.colours import (  # noqa: E402, F401
    BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY_BLUE, VERMILION, YELLOW)
from nbody_tools.records.record import Record  # noqa: E402

PAGE, INK, SOFT, GRID = map(colour, ("page", "ink", "soft", "grid"))
CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY_BLUE, BLACK)

# On black, each species has the same colour as in the live view (view/page/colours.js).
SPECIES_COLOURS = {kind: colour(f"species-{kind}")
                   for kind in ("gas", "dark", "disk", "bulge", "star", "boundary")}

_captions: Optional[dict[Path, str]] = None  # set only inside captions_apart()
CAPTION_SIZE = int(value("figure-caption"))
DOTS_PER_INCH = 130
MARGIN = 0.12  # inches
COORDINATES = re.compile(r' d="[^"]*"')

pyplot.rcParams.update({
    "font.size": int(value("figure-text")), "axes.titlesize": 14,
    "axes.labelsize": int(value("figure-text")), "figure.facecolor": PAGE, "axes.facecolor": PAGE,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK,
    "ytick.color": INK, "grid.color": GRID, "legend.facecolor": PAGE,
    "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "nbody",
    "axes.axisbelow": True,
})


@contextmanager
def captions_apart() -> Iterator[dict[Path, str]]:
    """Collects the captions of the figures that the `with` block saves, by path. The captions are
    not drawn into the figures, so that a page can show them as text."""
    global _captions
    _captions = {}
    try:
        yield _captions
    finally:
        _captions = None


def save(figure: Figure, path: Path, caption: str, ink: str = SOFT) -> Path:
    """Writes the caption below the figure in the colour `ink`, and saves the figure, first under a
    temporary name. An SVG has both themes."""
    figure.set_dpi(DOTS_PER_INCH)
    # Computes the layout and the figure's extent only once.
    # Otherwise matplotlib would draw everything two more times.
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
        figure.set_layout_engine("none")
    box = figure.get_tightbbox()
    # A letter of DejaVu Sans has a mean width of 0.008 inch for each point of the font's size.
    if _captions is not None:
        _captions[Path(path)], caption = caption, ""
    lines = textwrap.wrap(caption, width=int(figure.get_figwidth() / (0.008 * CAPTION_SIZE)))
    text = figure.text(0.01, (box.y0 - 0.15) / figure.get_figheight(), literal("\n".join(lines)),
                       ha="left", va="top", fontsize=CAPTION_SIZE, color=ink, linespacing=1.35)
    under = text.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    shown = Bbox.union([box, under]).padded(MARGIN)
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The file contains no date, so the same records always give the same bytes.
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(temporary, format=path.suffix[1:], dpi=DOTS_PER_INCH, bbox_inches=shown,
                       metadata=metadata)
        if path.suffix == ".png":
            _shrink(temporary)
        if path.suffix == ".svg":
            drawn = COORDINATES.sub(_rounded, temporary.read_text(encoding="utf-8"))
            temporary.write_text(both_themes(drawn), encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise ToolError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):  # such as a file in place of the folder, which was reported above
            temporary.unlink()
        pyplot.close(figure)
    return path


def literal(text: str) -> str:
    """Returns the name of a file or scenario such that matplotlib draws it as it is. It would read
    the text between two $ as a formula."""
    return text.replace("$", r"\$")


def _rounded(path: re.Match[str]) -> str:
    """Rounds coordinates to a hundredth of a point. Nobody sees the difference, and the file
    becomes a third smaller."""
    return re.sub(r"\d+\.\d{3,}", lambda n: f"{float(n.group(0)):.2f}", path.group(0))


def _shrink(png: Path) -> None:
    """Stores the picture with a palette, which makes the file two thirds smaller. The change is
    invisible, because figures have few colours."""
    with Image.open(png) as image:
        few = image.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    few.save(png, format="PNG")


def machines(records: Sequence[Record]) -> str:
    return "; ".join(dict.fromkeys(record.machine for record in records))


def dates(records: Sequence[Record]) -> str:
    days = sorted({record.date[:10] for record in records})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def run_note(record: Record) -> str:
    """Returns a sentence with the program, machine and date of a run, for a caption that is not
    about speed."""
    how = " (emulated)" if record.emulated else ""
    return f"Simulated by {record.step} on {record.machine}{how}, {record.date[:10]}."
