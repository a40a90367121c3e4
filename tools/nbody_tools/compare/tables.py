"""Makes the tables of docs/comparison.md from the records of `./nbody compare` in
docs/results/comparison/."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence, Union

from nbody_tools.records.record import read_records
from nbody_tools.tables import ABSENT, NOT_MEASURED, markdown, plain

FOLDER = "comparison"  # in docs/results/
# The table's last rows compare our steps with these programs. If a name ends in an underscore, the
# row uses the program's fastest block size. Programs in float64 are compared with ours in float64.
PEERS = ("sample_256", "sample_ftz_256", "sample_", "sample_ftz_", "sample_double_")


def check_comparison(data: Any) -> None:
    """Raises ValueError unless the record is from ./nbody compare."""
    kinds: dict[str, Union[type, tuple[type, ...]]] = {
        "contender": str,
        "what": str,
        "ours": bool,
        "backend": str,
        "device": str,
        "version": str,
        "date": str,
        "bodies": int,
        "masses": str,
        "steps": int,
        "repeats": list,
        "median": (int, float),
        "iqr": (int, float),
        "interactions_per_second": (int, float),
        "acceleration_rms": (int, float),
    }
    for key, kind in kinds.items():
        if not isinstance(data, dict) or not isinstance(data.get(key), kind):
            raise ValueError(f"'{key}' is missing or wrong")
    if data["backend"] == "cuda" and not data["median"] > 0:
        raise ValueError(f"the median is {data['median']}, not above 0")


def measured(results: Path) -> list[dict[str, Any]]:
    """Returns the newest GPU record of each contender and problem."""
    newest: dict[tuple, dict[str, Any]] = {}
    records = [record for path in sorted((results / FOLDER).glob("*.jsonl"))
               for record in read_records(path, check_comparison)]
    for data in sorted(
        (record.data for record in records if record.backend == "cuda"),
        key=lambda data: data["date"],
    ):
        newest[data["device"], data["masses"], data["contender"], data["bodies"]] = data
    return list(newest.values())


def tables(results: Path) -> str:
    """Returns one table for each combination of a device and "equal" or "different" masses."""
    records = measured(results)
    kinds = sorted(
        {(data["device"], data["masses"]) for data in records}, key=lambda kind: (kind[0], kind[1])
    )
    parts = [
        table(
            device,
            masses,
            [data for data in records if (data["device"], data["masses"]) == (device, masses)],
        )
        for device, masses in kinds
    ]
    return "\n\n".join(parts) if parts else NOT_MEASURED


def table(device: str, masses: str, records: Sequence[dict[str, Any]]) -> str:
    sizes = sorted({data["bodies"] for data in records})
    cells = {(data["contender"], data["bodies"]): data for data in records}
    order = sorted({data["contender"] for data in records}, key=lambda name: (
        not next(data["ours"] for data in records if data["contender"] == name), name))
    rows = []
    for name in order:
        found = [cells.get((name, size)) for size in sizes]
        first = next(filter(None, found))
        worst = max(data["acceleration_rms"] for data in found if data)
        rows.append(
            [f"`{name}`", first["version"], *(rate(data) for data in found), f"{worst:.1e}"]
        )
    rows += [row for peer in PEERS if (row := ratios(peer, sizes, records)) is not None]
    dates = sorted({data["date"][:10] for data in records})
    title = (f"The bodies have {masses} masses. The rates are G interactions/s for one system of N "
             "bodies (in brackets, the interquartile range of the times in percent); the last "
             "column is the largest RMS error of the accelerations. Measured on "
             f"{device}, {', '.join(dates)}:")
    return (
        title
        + "\n\n"
        + markdown(["", "with", *(f"N = {size}" for size in sizes), "RMS error"], rows)
    )


def rate(data: Any) -> str:
    if data is None:
        return ABSENT
    return (
        f"{plain(1e-9 * data['interactions_per_second'])} "
        f"({100 * data['iqr'] / data['median']:.1f})"
    )


def ratios(peer: str, sizes: Sequence[int], records: Sequence[dict[str, Any]]) -> Any:
    """Returns a row of ratios: our best step's rate, divided by the peer's rate with its fastest
    block size."""
    def best(size: int, which: Any) -> float:
        return max(
            (
                data["interactions_per_second"]
                for data in records
                if data["bodies"] == size and which(data)
            ),
            default=0.0,
        )

    def is_peer(data: Any) -> bool:
        rest = data["contender"].removeprefix(peer)
        return rest.isdigit() if peer.endswith("_") else not rest

    theirs = [best(size, is_peer) for size in sizes]
    if not any(theirs):
        return None
    ours = [best(size, lambda data: data["ours"]
                 and data["contender"].endswith("_double") == ("_double" in peer))
            for size in sizes]
    return [f"best of ours over `{peer}{'*' if peer.endswith('_') else ''}`", "",
            *(f"{a / b:.2f}" if a and b else ABSENT for a, b in zip(ours, theirs)), ""]
