"""Makes the tables of the READMEs from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Optional, Sequence

from nbody_tools.documents.tables import PROFILE_COLUMNS, metric, speedup, variant_table
from nbody_tools.measure.ncu import DERIVED, METRICS
from nbody_tools.records.facts import FactError, Facts, Measured, Value
from nbody_tools.records.record import Record, check_measurement, read_records
from nbody_tools.records.timeline import STAGES, read_timeline, sums
from nbody_tools.tables import ABSENT, NOT_MEASURED, markdown, plain, seconds, with_range

QUEUES = (1, 2, 4, 8, 16, 32)
STEPS_OF_SMALL = 1000  # runs with this many time steps or more have small systems


def measured(step: str, facts: Facts) -> str:
    """Returns a table with one row per problem size and number of devices. Omits small systems."""
    newest: dict[tuple, Measured] = {}
    for m in facts.measured:
        key = (m.problem.bodies, m.problem.systems, m.problem.steps, m.record.device_count)
        if (
            m.name == step
            and m.problem.steps < STEPS_OF_SMALL
            and (key not in newest or m.rank >= newest[key].rank)
        ):
            newest[key] = m
    return measured_table([newest[key] for key in sorted(newest)])


def cpu_programs(facts: Facts) -> str:
    """Returns a table for cpu_simd, a program that is measured on several CPUs. The table shows the
    newest record of every machine and problem."""
    newest: dict[tuple[str, str], Measured] = {}
    for m in facts.measured:
        key = (m.record.machine, str(m.record.problem))
        if m.name == "cpu_simd" and (key not in newest or m.record.date >= newest[key].record.date):
            newest[key] = Measured(m.name, m.record, None)
    return measured_table([newest[key] for key in sorted(newest)])


def measured_table(measurements: Sequence[Measured]) -> str:
    if not measurements:
        return NOT_MEASURED
    return markdown(
        ("machine", "systems x bodies x steps", "compute, median (IQR)", "total, median (IQR)",
         "G interactions/s", "speedup over step 00", "RMS error", "verdict"),
        [measured_row(m) for m in measurements])


def measured_row(m: Measured) -> list[str]:
    error = m.record.acceleration_error
    return [f"{m.record.machine}, {m.record.date[:10]}", str(m.problem),
            with_range(m.record.seconds("compute")), with_range(m.record.seconds("total")),
            f"{m.rate:.4g}", speedup(m.record, m.base), ABSENT if error is None else f"{error:.1e}",
            m.record.judgement]


def profile_of(step: str, parent: Optional[str], facts: Facts, keys: Sequence[str]) -> str:
    """Returns a table with one row per metric, for the main kernels of the parent and of the
    step."""
    known = {m.key: m for m in (*METRICS, *DERIVED)}
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise FactError(f"'{unknown[0]}' is not a metric; choose from {', '.join(known)}")
    lines = {name: line for name in (parent, step) if name and (line := facts.profile(name))}
    if step not in lines:
        return NOT_MEASURED
    rows = []
    for key in keys or [key for key, _ in PROFILE_COLUMNS]:
        label = ", ".join(filter(None, (known[key].label, known[key].unit)))
        rows.append([label, *(metric(line, key) for line in lines.values())])
    problems = dict.fromkeys(
        f"{line['systems']} x {line['bodies']} bodies" for line in lines.values()
    )
    head = [
        " and ".join(problems),
        *(
            f"{name[4:].replace('_', ' ')}: `{line['kernel'].partition('<')[0]}`"
            for name, line in lines.items()
        ),
    ]
    return markdown(head, rows)


def variants_of(step: str, facts: Facts, names: Sequence[str]) -> str:
    """Returns a table of a step's variants; `names` selects some of them."""
    chosen = [m for m in facts.variants() if m.name.partition("_")[0] == step.partition("_")[0]
              and (not names or m.name in names)]
    return variant_table(chosen, facts) if chosen else NOT_MEASURED


def accuracy(results: Path, steps: Sequence[str]) -> str:
    """Returns a table of the accelerations' RMS errors by N, from docs/results/accuracy/. Includes
    emulated runs, because emulation changes only the times."""
    errors: dict[tuple[str, int], float] = {}
    for source in sorted((results / "accuracy").glob("*.jsonl")):
        for record in read_records(source):
            if record.acceleration_error is not None:
                errors[record.step, record.data["bodies"]] = record.acceleration_error
    sizes = sorted({bodies for step, bodies in errors if step in steps})
    if not sizes:
        return NOT_MEASURED
    rows = [
        [
            step[4:].replace("_", " "),
            *(f"{errors[step, n]:.1e}" if (step, n) in errors else ABSENT for n in sizes),
        ]
        for step in steps
    ]
    return markdown(["RMS error, N =", *map(str, sizes)], rows)


def measured_in(results: Path, folder: str, names: Sequence[str]) -> list[Record]:
    """Returns the records of these programs in docs/results/FOLDER/."""
    return [
        record
        for source in sorted((results / folder).glob("*.jsonl"))
        for record in read_records(source, check_measurement)
        if record.step in names and not record.emulated
    ]


def newest(records: Sequence[Record]) -> Optional[Record]:
    return max(records, key=lambda record: record.date, default=None)


def rates(results: Path, folder: str, names: Sequence[str]) -> str:
    """Returns a table of the rates and errors of these programs, from docs/results/FOLDER/."""
    found = {(record.step, (record.data["systems"], record.data["bodies"])): record
             for record in measured_in(results, folder, names)}
    problems = sorted({problem for _, problem in found})
    if not problems:
        return NOT_MEASURED
    rows = []
    for name in names:
        records = [found.get((name, problem)) for problem in problems]
        rows.append(
            [
                name[4:].replace("_", " ") + ", G/s",
                *(
                    plain(r.giga_interactions_per_second("compute").median) if r else ABSENT
                    for r in records
                ),
            ]
        )
        rows.append(
            ["RMS error", *(f"{r.acceleration_error:.1e}" if r else ABSENT for r in records)]
        )
    head = [
        f"{bodies:,}" if systems == 1 else f"{systems} x {bodies}" for systems, bodies in problems
    ]
    return markdown(["", *head], rows)


def recorded(results: Path, folder: str, step: str, quantity: str) -> Value:
    """Returns the median time per time step from a program's newest record in
    docs/results/FOLDER/."""
    record = newest(measured_in(results, folder, [step]))
    content = record.seconds(quantity).median / record.data["steps"] if record else None
    return Value(content, "time", f"recorded('{folder}', '{step}', '{quantity}')")


def recorded_rate(results: Path, folder: str, step: str, bodies: int, devices: int = 1) -> Value:
    """Returns a program's newest rate for systems of this size, from docs/results/FOLDER/."""
    record = newest([record for record in measured_in(results, folder, [step])
                     if record.data["bodies"] == bodies and record.device_count == devices])
    content = record.giga_interactions_per_second("compute").median if record else None
    return Value(content, name=f"recorded_rate('{folder}', '{step}', {bodies})")


def timelines(results: Path, runs: Sequence[str]) -> str:
    """Returns a table with one column per run (docs/results/timelines/RUN.timeline.csv): the total
    time of each stage, and the share of the copies that was hidden under kernels."""
    columns = {
        run: sums(read_timeline(results / "timelines" / f"{run}.timeline.csv")) for run in runs
    }
    rows = [["from first to last", *(seconds(total.wall) for total in columns.values())]]
    for stage in STAGES:
        rows.append(
            [f"{stage}, sum of all spans", *(seconds(c.total[stage]) for c in columns.values())]
        )
        rows.append([f"{stage}, union", *(seconds(c.union[stage]) for c in columns.values())])
    rows.append(["copies, union", *(seconds(total.copies) for total in columns.values())])
    rows.append(["share of copies hidden under kernels of the same GPU",
                 *(f"{100 * total.hidden_share:.0f} %" for total in columns.values())])
    return markdown(["", *(run.replace("_", " ") for run in runs)], rows)


def timeline_sum(results: Path, run: str, quantity: str) -> Value:
    """Returns a total of the timeline (`copies`, `hidden` or `wall`), or `hidden_share`, the share
    of the copies that kernels hide."""
    total = sums(read_timeline(results / "timelines" / f"{run}.timeline.csv"))
    if quantity not in ("copies", "hidden", "wall", "hidden_share"):
        raise FactError(f"'{quantity}' is not a sum; choose from copies, hidden, wall, "
                        "hidden_share")
    return Value(
        getattr(total, quantity),
        "percent" if quantity == "hidden_share" else "time",
        f"timeline('{run}').{quantity}",
    )


def queues(results: Path) -> str:
    """Returns a table of step 07's times in both stream orders, for several numbers of hardware
    queues, from docs/results/connections/."""
    def times(name: str) -> list[str]:
        source = results / "connections" / f"{name}.jsonl"
        compute = ({r.step: seconds(r.seconds("compute").median) for r in read_records(source)}
                   if source.exists() else {})
        return [compute.get(step, ABSENT) for step in ("step07_overlap", "step07_by_system")]

    rows = [["unset", *times("queues_unset"), *times("queues_unset")]]
    rows += [[str(n), *times(f"queues_{n}"), *times(f"copy_queues_{n}")] for n in QUEUES]
    return markdown(("queues", "`CUDA_DEVICE_MAX_CONNECTIONS`: in phases", "by system",
                     "`CUDA_DEVICE_MAX_COPY_CONNECTIONS`: in phases", "by system"), rows)
