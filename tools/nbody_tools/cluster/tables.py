"""Makes the tables of docs/cluster.md."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

from nbody_tools.cluster import cluster, model
from nbody_tools.cluster.model import Gather
from nbody_tools.records.facts import Facts, Problem, Value
from nbody_tools.records.record import Record
from nbody_tools.tables import NOT_MEASURED, markdown

STEP = "step14_cluster"
LINK = 450  # GB/s in each direction: 18 NVLink 4 links of 25 GB/s
RANKS = (2, 4, 8)
ROWS = (  # label, problem, kind of time, name pattern of the predictions
    ("262,144 bodies", Problem(1, 262144, 5), "compute", "one of 262,144 on {} GPUs, times one"),
    (
        "1,048,576 bodies",
        Problem(1, 1048576, 2),
        "compute",
        "one of 1,048,576 on {} GPUs, times one",
    ),
    (
        "4,194,304 bodies",
        Problem(1, 4194304, 1),
        "compute",
        "one of 4,194,304 on {} GPUs, times one",
    ),
    (
        "256 x 8192 bodies",
        Problem(256, 8192, 20),
        "compute",
        "256 x 8192 x 20 on {} GPUs, compute, times one",
    ),
    (
        "256 x 8192 bodies",
        Problem(256, 8192, 20),
        "total",
        "256 x 8192 x 20 on {} GPUs, total, times one",
    ),
)


def predicted(rate: Value, results: Path) -> str:
    """Returns a table of predictions for GPUs that compute `rate` G interactions/s. The predictions
    use the measured times of the gathers."""
    gathers = model.read_gathers(sorted((results / "cluster").glob("*_gather.txt")))
    head, *rows = cluster.prediction(rate.number * 1e9, gathers)
    return markdown(head, rows)


def speedups(facts: Facts) -> dict[str, dict[int, float]]:
    """Maps each measured row's label to a dictionary from numbers of GPUs to speedups over one
    GPU."""
    found: dict[str, dict[int, float]] = {}
    for name, problem, time, _ in ROWS:
        one = facts.value(STEP, problem, time, 1)
        gains = {ranks: one / facts.value(STEP, problem, time, ranks) for ranks in (1, *RANKS)}
        if all(gain.content is not None for gain in gains.values()):
            found[f"{name}, {time}"] = {ranks: gain.number for ranks, gain in gains.items()}
    return found


def records(facts: Facts) -> list[Record]:
    return [found.record for _, problem, _, _ in ROWS for ranks in (1, *RANKS)
            if (found := facts.pick(STEP, problem, ranks)) is not None]


def measured(facts: Facts) -> str:
    """Returns a table of the speedups over one GPU: predicted and, if records exist, measured."""
    rows = []
    for name, problem, time, words in ROWS:
        one = facts.value(STEP, problem, time, 1)
        cells = []
        for ranks in RANKS:
            ratio = one / facts.value(STEP, problem, time, ranks)
            predicted = str(
                facts.predicted("14, " + words.format(ranks), "predicted")
            )  # the cell is "ratio" or "time, ratio"
            cells += [predicted.rpartition(", ")[2],
                      "-" if ratio.content is None else f"{float(ratio.content):.2f}"]
        rows.append([name, time, *cells])
    head = [cell for ranks in RANKS for cell in (f"{ranks} GPUs, predicted", "measured")]
    return markdown(("problem", "time", *head), rows)


def gathered(results: Path) -> str:
    """Returns a table of nbody-gather's busbw by size, ranks and transport. If a gather was
    measured several times, the newest file counts."""
    columns = model.read_gathers(sorted((results / "cluster").glob("*_gather.txt")))
    if not columns:
        return NOT_MEASURED

    def cell(transport: str, gather: Optional[Gather]) -> str:
        if gather is None:
            return NOT_MEASURED
        of_link = f" ({100 * gather.busbw / LINK:.0f} %)" if transport == "nccl" else ""
        return f"{cluster.in_words(gather.seconds)}, {gather.busbw:.3g}{of_link}"

    order = sorted(columns, key=lambda key: (key[0] != "nccl", key[1]))
    rows = [
        [f"{size:,}", f"{size // 16:,}", *(cell(key[0], columns[key].get(size)) for key in order)]
        for size in sorted({size for column in columns.values() for size in column})
    ]
    heads = (f"{ranks} GPUs, {transport.upper()}" for transport, ranks in order)
    return markdown(("size (B)", "bodies", *heads), rows)
