"""Converts two kinds of records into tables for documents: measurements of libnbody's calls
(python/tests/measure_cuda.py), and comparisons of cpu_tree with other programs
(cpu/tree/compare.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Optional

from nbody_tools.records.facts import Value
from nbody_tools.tables import ABSENT, markdown

LIBRARIES = {"torch": "PyTorch", "cupy": "CuPy", "jax": "JAX"}
PROGRAMS = {"cpu_tree": "cpu_tree", "pytreegrav": "pytreegrav", "rebound": "REBOUND's tree"}


def newest(folder: Path) -> list[dict[str, Any]]:
    """Returns the lines of the newest file of records, which is the last one by name."""
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        return []
    return [json.loads(line) for line in files[-1].read_text(encoding="utf-8").splitlines()]


# The columns of extra time, by their names in the records.
EXTRA = {"queued_checked": "20 calls in a row", "checked_on_device": "a single call",
         "unchecked_on_device": "unchecked", "checked": "until the host has the result"}


def microseconds(seconds: Optional[float]) -> str:
    return ABSENT if seconds is None else f"{round(1e6 * seconds):,} us"


def calls_table(records: list[dict[str, Any]]) -> str:
    """Returns the table of libraries whose events measure calls on the device."""
    calls = [one for one in records if one["kind"] == "call" and one["library"] != "jax"]
    rows = [[f"{one['bodies']:,}", one["method"], LIBRARIES[one["library"]],
             microseconds(one["kernels"]), microseconds(one["kernels_alone"]),
             *(microseconds(one["more"][kind]) for kind in EXTRA)] for one in calls]
    return markdown(["bodies", "method", "arrays", "kernels in a row", "kernels alone",
                     *EXTRA.values()], rows) if rows else ""


def calls_of_jax(records: list[dict[str, Any]]) -> str:
    """Returns the table of calls in functions that JAX compiles."""
    rows = [[f"{one['bodies']:,}", one["method"],
             *(microseconds(one[kind]) for kind in ("kernels", "loop", "unrolled"))]
            for one in records if one["kind"] == "compiled call"]
    return markdown(["bodies", "method", "kernels in a row", "in a loop", "unrolled"],
                    rows) if rows else ""


def additions(records: list[dict[str, Any]]) -> str:
    return ", ".join(f"{LIBRARIES[one['library']]} {1e6 * one['seconds']:.0f} us"
                     for one in records if one["kind"] == "addition")


def massless_table(records: list[dict[str, Any]]) -> str:
    def of(one: dict[str, Any], kind: str) -> list[str]:
        whole, half = one["all" + kind], one["half" + kind]
        return [f"{1e3 * whole:.2f} ms", f"{1e3 * half:.2f} ms", f"{whole / half:.2f}"]

    rows = [[f"{one['bodies']:,}", "given" if one["form"] == "targets" else "the bodies",
             *of(one, "_in_a_row"), *of(one, "")] for one in records if one["kind"] == "massless"]
    return markdown(["bodies", "targets", "in a row: all massive", "half massless", "times faster",
                     "single: all massive", "half massless", "times faster"],
                    rows) if rows else ""


def peers_table(records: list[dict[str, Any]]) -> str:
    ours = {one["bodies"]: one["seconds"] for one in records if one["program"] == "cpu_tree"}
    rows = [[PROGRAMS[one["program"]], f"{one['bodies']:,}", f"{one['seconds']:.2f} s",
             f"{one['rms']:.1e}", f"{one['seconds'] / ours[one['bodies']]:.1f}"]
            for one in records if one["bodies"] in ours]
    return markdown(["program", "bodies", "all forces", "RMS error", "time relative to cpu_tree"],
                    rows) if rows else ""


def where(records: list[dict[str, Any]]) -> str:
    first = records[0] if records else {}
    if "processor" in first:
        return f"{first['processor']}, {first['cores']} cores, {first['date'][:10]}"
    return f"{first['device']}, {first['date'][:10]}" if first else ""


def words(results: Path) -> dict[str, Callable[..., Value]]:
    def of(folder: str, name: str,
           made: Callable[[list[dict[str, Any]]], str]) -> Callable[[], Value]:
        return lambda: Value(made(newest(results / folder)) or None, "text", f"{name}()",
                             optional=True)

    return {
        "library_calls": of("library", "library_calls", calls_table),
        "library_calls_of_jax": of("library", "library_calls_of_jax", calls_of_jax),
        "library_massless": of("library", "library_massless", massless_table),
        "library_additions": of("library", "library_additions", additions),
        "library_device": of("library", "library_device", where),
        "cpu_tree_peers": of("cpu_tree_peers", "cpu_tree_peers", peers_table),
        "cpu_tree_machine": of("cpu_tree_peers", "cpu_tree_machine", where),
    }
