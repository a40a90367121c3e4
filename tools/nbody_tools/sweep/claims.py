"""Makes tables and numbers for pages from the results of experiments/claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nbody_tools.arguments import ToolError
from nbody_tools.records.facts import Value
from nbody_tools.tables import markdown, plain

FOLDER = Path("docs") / "results" / "claims"
RESULTS = FOLDER / "2026-11-23_h200.jsonl"
ONE_THREAD = FOLDER / "cpu_simd_2026-11-23.jsonl"
SPIRAL = FOLDER / "spiral_2026-11-23_h200.jsonl"
AGORA = FOLDER / "agora_2026-11-23_h200.jsonl"
AGORA_STARS = {"LOW": 112500, "MED": 1125000}
OF_THE_RUN = ("revision", "date", "program", "device", "backend", "verdict")
FLOPS = 20  # per interaction
TOLERANCE = 0.005  # the default of step 15b


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def claims_table(root: Path, program: str) -> str:
    """Returns a table of all results of a program, one per row."""
    found = [line for line in lines_of(root / RESULTS) if line["program"] == program]
    if not found:
        raise ToolError(f"{RESULTS.name}: has no line of {program}")
    keys = [key for key in found[0] if key not in OF_THE_RUN]
    rows = [[written(line[key]) for key in keys] + [line["verdict"]] for line in found]
    return markdown([*(key.replace("_", " ") for key in keys), "check"], rows)


def written(value: Any) -> str:
    return value if isinstance(value, str) else plain(value, 4)


def one_thread(root: Path, quantity: str) -> Value:
    """Returns the rate of cpu_simd on one thread, in G interactions/s or GFLOP/s."""
    rate = 1e-9 * lines_of(root / ONE_THREAD)[0]["interactions_per_second"]
    return Value(rate * (FLOPS if quantity == "gflops" else 1), name=f"one_thread('{quantity}')")


def spiral(root: Path, quantity: str, tolerance: float = TOLERANCE) -> Value:
    """Returns a number about the run with 134,810 stars and this force tolerance: the seconds that
    it took, or the value of a check divided by the check's limit."""
    name = f"spiral('{quantity}', {tolerance})"
    record = next(
        record
        for record in lines_of(root / SPIRAL)
        if record["approximation"]["force_tolerance"] == tolerance
    )
    if quantity == "seconds":
        return Value(record["median"]["compute"], name=name)
    return Value(record["errors"][quantity] / record["limits"][quantity], name=name)


def agora_table(root: Path) -> str:
    """Returns a table of milliseconds per time step, with a row for each of AGORA's numbers of
    stars. Step 12 computes all pairs of stars, without a halo. Step 15b computes the stars and a
    halo of twice as many bodies with a tree."""
    time = {(record["step"], record["bodies"]): 1e3 * record["median"]["compute"] / record["steps"]
            for record in lines_of(root / AGORA)}
    rows = [[name, f"{stars:,}", plain(time["step12_newton3", stars], 3),
             f"{3 * stars:,}", plain(time["step15b_force_aware", 3 * stars], 3)]
            for name, stars in AGORA_STARS.items()]
    return markdown(["AGORA", "stars", "step 12, ms", "with the halo", "step 15b, ms"], rows)


def words(root: Path) -> dict[str, Any]:
    return {
        "claims": lambda program: claims_table(root, program),
        "one_thread": lambda quantity: one_thread(root, quantity),
        "agora": lambda: agora_table(root),
        "spiral": lambda *which: spiral(root, *which),
    }
