"""Makes the tables of the report and of the main README from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from nbody_tools.documents.sources import Source
from nbody_tools.records import gpus
from nbody_tools.records.facts import STEP_NAME, FactError, Facts, Measured, Value
from nbody_tools.records.record import Record
from nbody_tools.records.staircase import Staircase, committed_staircase
from nbody_tools.steps import number_of
from nbody_tools.tables import ABSENT, NOT_MEASURED, markdown, plain, with_range

DEVICE_COUNTS = (1, 2, 4, 8)
MULTI_GPU_STEPS = ("step07_overlap", "step08_multigpu", "step09_soa", "step10_tiled2d_cublas")
FIRST_STEP_OF_MANY_BLOCKS = "04b"  # from this step on, one system can use the whole device


def cell(value: Value) -> str:
    return ABSENT if value.content is None else str(value)


def link(step: str) -> str:
    return f"[{step}](../{step}/)"


def value_of(fact: dict) -> str:
    return fact["value"] if isinstance(fact["value"], str) else plain(fact["value"])


def machines(facts: Facts) -> str:
    rows = []
    for name in facts.machines.values():
        known = facts.machine_facts.get(name, {})
        gpus.check(name, known)
        rows += [[name, fact["label"], f"{value_of(fact)} {fact['unit']}".strip(), fact["source"]]
                 for fact in known.values()]
    return markdown(("machine", "what", "value", "how known"), rows)


def staircase(facts: Facts) -> str:
    """Returns a table of our steps' results next to the published results. Our times are medians of
    the total time, including transfers."""
    rows = []
    for step in facts.steps:
        theirs = [row for row in facts.published["rows"] if row["step"] == step] or [None]
        ours = [cell(facts.value(step, "systems", quantity))
                for quantity in ("total", "speedup", "gips", "gips_total")]
        for i, row in enumerate(theirs):
            printed = [ABSENT] * 3 if row is None else [
                f"{row['time']:.4f} s", f"{row['speedup']:.2f}", f"{row['gips']:.2f}"]
            if row is not None and row["key"] == "multi":
                printed[2] += f" (by its time: {facts.published_value('multi', 'gips_from_time')})"
            rows.append([link(step), *(ours if i == 0 else ["as above"] * 4),
                         row["label"] if row else ABSENT, *printed])
    return markdown(
        (
            "step",
            "time",
            "speedup",
            "G/s, kernels",
            "G/s, total",
            "lab report",
            "its time",
            "its speedup",
            "its G/s",
        ),
        rows,
    )


def predictions(facts: Facts) -> str:
    rows = []
    for step in facts.steps:
        predicted = facts.predicted(number_of(step), "predicted G/s")
        if predicted.content is not None:
            measured = facts.value(step, "systems", "gips")
            rows.append([link(step), cell(predicted), cell(measured), cell(measured / predicted)])
    return markdown(("step", "predicted G/s", "measured G/s", "measured / predicted"), rows)


def devices(facts: Facts) -> str:
    rows = []
    for step in (name for name in MULTI_GPU_STEPS if name in facts.steps):
        one = facts.pick(step, "wide")
        for count in DEVICE_COUNTS:
            several = facts.pick(step, "wide", count)
            if several is None:
                continue
            ratios = [ABSENT] * 3
            if one is not None:
                speedup = several.record.speedup_over(one.record).median
                ratios = [f"{several.rate / one.rate:.2f}", f"{speedup:.2f}",
                          f"{100 * speedup / count:.1f} %"]
            rows.append([link(step), str(count), with_range(several.record.seconds("total")),
                         plain(several.rate), *ratios])
    return markdown(("step", "GPUs", "total (IQR)", "G/s", "G/s relative to one GPU",
                     "speedup over one GPU", "efficiency"), rows)


def single(facts: Facts) -> str:
    names = [name for name, problem in facts.problems.items() if problem.systems == 1]
    rows = []
    for step in facts.steps:
        cells = [cell(facts.value(step, name, "gips")) for name in names]
        if step[4:] >= FIRST_STEP_OF_MANY_BLOCKS and any(text != ABSENT for text in cells):
            rows.append([link(step), *cells])
    return markdown(
        ("G/s of one system of", *(f"{facts.problems[n].bodies} bodies" for n in names)), rows
    )


def accuracy(facts: Facts) -> str:
    rows = [[link(step), *(cell(facts.value(step, name, "error")) for name in facts.problems)]
            for step in facts.steps]
    return without_empty(["RMS error of accelerations", *map(str, facts.problems.values())], rows)


def without_empty(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Omits rows and columns without measurements."""
    rows = [row for row in rows if any(text != ABSENT for text in row[1:])]
    used = [i for i in range(len(head)) if any(row[i] != ABSENT for row in rows)]
    return markdown([head[i] for i in used], [[row[i] for i in used] for row in rows])


def cpu(facts: Facts) -> str:
    """Returns a table of the CPU programs, with the factor by which the best step on one GPU is
    faster than each of them."""
    gpu = [m for step in facts.steps if (m := facts.pick(step, "systems")) is not None
           and m.record.backend == "cuda"]
    best = min(gpu, key=lambda m: m.record.seconds("total").median, default=None)
    rows = []
    for name in ("step00_cpu_omp", "cpu_simd"):
        measured = facts.pick(name, "systems")
        if measured is None:
            rows.append([name, *[NOT_MEASURED] * 4])
            continue
        ratio = (
            ABSENT if best is None else f"{best.record.speedup_over(measured.record).median:.1f}"
        )
        rows.append([name, measured.record.machine, with_range(measured.record.seconds("total")),
                     plain(measured.rate), ratio])
    title = "fastest step" if best is None else best.name
    return markdown(("program", "machine", "total (IQR)", "G/s",
                     f"{title} is faster by a factor of"), rows)


PROFILE_COLUMNS = (("registers", "registers"), ("occupancy_percent", "occupancy, %"),
                   ("sm_busy_percent", "SMs with work, %"), ("issue_percent", "issue slots, %"),
                   ("fma_percent", "FMA pipe, %"), ("xu_percent", "XU pipe, %"),
                   ("instructions_per_interaction", "instructions per interaction"))


def profile(facts: Facts) -> str:
    rows = []
    for step in facts.steps:
        line = facts.profile(step)
        if line is not None:
            rows.append([link(step), f"`{line['kernel'].partition('<')[0]}`",
                         *(metric(line, key) for key, _ in PROFILE_COLUMNS)])
    return without_empty(["step", "kernel", *(label for _, label in PROFILE_COLUMNS)], rows)


def metric(line: Optional[dict], key: str) -> str:
    return plain(line["metrics"][key]) if line and key in line["metrics"] else ABSENT


def variants(facts: Facts) -> str:
    return variant_table(list(facts.variants()), facts)


def variant_table(measured: Sequence[Measured], facts: Facts) -> str:
    rows = []
    for m in measured:
        original = original_of(m, facts)
        ratio = ABSENT if original is None else f"{m.rate / original.rate:.3f}"
        rows.append([m.name, str(m.problem), str(m.record.device_count),
                     with_range(m.record.seconds("total")), plain(m.rate), ratio])
    return markdown(("variant", "systems x bodies x steps", "GPUs", "total (IQR)", "G/s",
                     "G/s relative to the step"), rows)


def original_of(variant: Measured, facts: Facts) -> Optional[Measured]:
    """Returns a record of the step from which this variant was made, on the same problem and with
    the same number of devices as the variant. If there are several such records, returns the one
    that facts.py ranks highest."""
    if STEP_NAME.fullmatch(variant.name) is None:
        return None
    same = [m for m in facts.measured if m.name in facts.steps
            and m.name.partition("_")[0] == variant.name.partition("_")[0]
            and m.problem == variant.problem
            and m.record.device_count == variant.record.device_count]
    return max(same, key=lambda m: m.rank, default=None)


TABLES: dict[str, Callable[[Facts], str]] = {
    "machines": machines, "staircase": staircase, "predictions": predictions, "devices": devices,
    "single": single, "accuracy": accuracy, "cpu": cpu, "profile": profile, "variants": variants,
}


def table(name: str, facts: Facts) -> Value:
    if name not in TABLES:
        raise FactError(f"there is no table '{name}'; choose from {', '.join(TABLES)}")
    text = TABLES[name](facts)
    return Value(text if text.count("\n") > 1 else None, "text", f"table('{name}')")


def speedup(record: Record, base: Optional[Record]) -> str:
    return ABSENT if base is None else f"{record.speedup_over(base).median:.2f}"


def main_staircase(
    results: Path, sources: dict[str, Source], changes: Callable[[str], int]
) -> str:
    _, shown = committed_staircase(results) or (None, None)
    rows = [row for source in sources.values() for row in staircase_rows(source, changes, shown)]
    return "\n\n".join(
        [
            markdown(("step", "idea", "lines", "changed", "G interactions/s", "speedup"), rows),
            staircase_note(shown),
        ]
    )


def staircase_rows(source: Source, changes: Callable[[str], int],
                   shown: Optional[Staircase]) -> Iterator[list[str]]:
    facts = [f"[{source.name}]({source.name}/)", source.idea, str(source.length),
             str(changes(source.name)) if source.parent else ABSENT]
    records = [record for record in shown.records if record.step == source.name] if shown else []
    base = shown.base if shown else None
    if not records:
        yield [*facts, ABSENT, ABSENT]
    for record in records:
        count = f" ({record.device_count} GPUs)" if record.device_count > 1 else ""
        rate = record.giga_interactions_per_second("compute").median
        yield [facts[0] + count, *facts[1:], f"{rate:.4g}", speedup(record, base)]


def staircase_note(shown: Optional[Staircase]) -> str:
    if shown is None:
        return NOT_MEASURED
    gpus = [record for record in shown.records if record.backend == "cuda"]
    one = min(gpus, key=lambda record: record.device_count)
    base = shown.base.machine if shown.base else NOT_MEASURED
    days = sorted({record.date[:10] for record in shown.records})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return (f"Measured on {one.machine}, step 00 on {base}, {when}: "
            f"{shown.problem}. The rates are G interactions/s from the median compute time, with "
            "N^2 interactions per step and system. The speedup is a ratio of median total times, "
            "including transfers.")
