"""The tables of the report, made from what was measured. None: nothing of it was measured yet."""

from __future__ import annotations

from typing import Callable, Optional, Sequence

from nbody_facts import STEP_NAME, FactError, Facts, Measured, Missing, problem_of, variants
from nbody_table import ABSENT, with_range
from nbody_template import evaluate, plain

DEVICE_COUNTS = (1, 2, 4, 8)
MULTI_GPU_STEPS = ("step07_overlap", "step08_multigpu", "step09_soa", "step10_tiled2d_cublas")
FIRST_STEP_OF_MANY_BLOCKS = 5  # from here a single system may use the whole device


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Optional[str]:
    if not rows:
        return None
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
                     for line in lines)


def cell(body: str, facts: Facts) -> str:
    try:
        return evaluate(body, facts)
    except Missing:
        return ABSENT


def link(step: str) -> str:
    return f"[{step}](../{step}/)"


def machines(facts: Facts) -> Optional[str]:
    rows = []
    for name in facts.machines.values():
        for fact in facts.machine_facts.get(name, {}).values():
            rows.append([name, fact["label"], f"{plain(fact['value'])} {fact['unit']}".strip(),
                         fact["source"]])
    return markdown(("machine", "what", "value", "how known"), rows)


def staircase(facts: Facts) -> Optional[str]:
    """Ours beside the published one. Ours: medians of total times, transfers included."""
    rows = []
    for step in facts.steps:
        theirs = [row for row in facts.published["rows"] if row["step"] == step] or [None]
        ours = [cell(f"{step}.systems.{quantity}", facts)
                for quantity in ("total", "speedup", "gips", "gips_total")]
        for i, row in enumerate(theirs):
            said = [ABSENT] * 3 if row is None else [
                f"{row['time']:.4f} s", f"{row['speedup']:.2f}", f"{row['gips']:.2f}"]
            if row is not None and row["key"] == "multi":
                said[2] += f" (by its time: {cell('published.multi.gips_from_time', facts)})"
            rows.append([link(step), *(ours if i == 0 else ["as above"] * 4),
                         row["label"] if row else ABSENT, *said])
    return markdown(("step", "time", "speedup", "G/s, kernels", "G/s, total", "lab report", "its time",
                     "its speedup", "its G/s"), rows)


def predictions(facts: Facts) -> Optional[str]:
    rows = []
    for step in facts.steps:
        key = step[4:6]
        predicted = cell(f"predicted[{key}].predicted G/s", facts)
        if predicted == ABSENT:
            continue
        rows.append([link(step), predicted, cell(f"{step}.systems.gips", facts),
                     cell(f"{step}.systems.gips / predicted[{key}].predicted G/s", facts)])
    return markdown(("step", "predicted G/s", "measured G/s", "measured over predicted"), rows)


def devices(facts: Facts) -> Optional[str]:
    rows = []
    for step in (name for name in MULTI_GPU_STEPS if name in facts.steps):
        one = facts.picked(step, "wide", 1)
        for count in DEVICE_COUNTS:
            found = facts.picked(step, "wide", count)
            if found is None:
                continue
            row = [link(step), str(count), with_range(found.record.seconds("total")),
                   plain(found.record.giga_interactions_per_second("compute").median)]
            if one is None:
                rows.append([*row, ABSENT, ABSENT, ABSENT])
                continue
            kernels = (found.record.giga_interactions_per_second("compute").median
                       / one.record.giga_interactions_per_second("compute").median)
            speedup = found.record.speedup_over(one.record).median
            rows.append([*row, f"{kernels:.2f}", f"{speedup:.2f}", f"{100 * speedup / count:.1f} %"])
    return markdown(("step", "GPUs", "total (IQR)", "G/s", "G/s over one GPU",
                     "speedup over one GPU", "efficiency"), rows)


def single(facts: Facts) -> Optional[str]:
    names = [name for name in facts.problems if facts.problems[name].systems == 1]
    rows = []
    for step in facts.steps:
        cells = [cell(f"{step}.{name}.gips", facts) for name in names]
        if int(step[4:6]) >= FIRST_STEP_OF_MANY_BLOCKS and any(text != ABSENT for text in cells):
            rows.append([link(step), *cells])
    return markdown(("G/s of one system of", *(f"{facts.problems[n].bodies} bodies" for n in names)),
                    rows)


def accuracy(facts: Facts) -> Optional[str]:
    names = list(facts.problems)
    rows = []
    for step in facts.steps:
        cells = [cell(f"{step}.{name}.error", facts) for name in names]
        if any(text != ABSENT for text in cells):
            rows.append([link(step), *cells])
    used = [i for i in range(1, len(names) + 1) if any(row[i] != ABSENT for row in rows)]
    head = ["RMS error of accelerations", *(str(facts.problems[name]) for name in names)]
    return markdown([head[i] for i in (0, *used)], [[row[i] for i in (0, *used)] for row in rows])


def cpu(facts: Facts) -> Optional[str]:
    """Two CPU lines, and what the fastest step on one GPU is against each."""
    gpu = [m for step in facts.steps if (m := facts.picked(step, "systems")) is not None
           and m.record.backend == "cuda"]
    best = min(gpu, key=lambda m: m.record.seconds("total").median, default=None)
    rows = []
    for name in ("step00_cpu_omp", "cpu_simd"):
        found = facts.picked(name, "systems")
        if found is None:
            rows.append([name, *["*not measured*"] * 4])
            continue
        ratio = ABSENT if best is None else f"{best.record.speedup_over(found.record).median:.1f}"
        rows.append([name, found.record.machine, with_range(found.record.seconds("total")),
                     plain(found.record.giga_interactions_per_second("compute").median), ratio])
    title = "fastest step" if best is None else best.name
    return markdown(("program", "machine", "total (IQR)", "G/s", f"{title} is faster by"), rows)


PROFILE_COLUMNS = (("registers", "registers"), ("occupancy_percent", "occupancy, %"),
                   ("sm_busy_percent", "SMs with work, %"), ("issue_percent", "issue slots, %"),
                   ("fma_percent", "FMA pipe, %"), ("xu_percent", "XU pipe, %"),
                   ("instructions_per_interaction", "instructions an interaction"))


def profile(facts: Facts) -> Optional[str]:
    rows = []
    for step in facts.steps:
        line = facts.main_kernel(step)
        if line is not None:
            values = [plain(line["metrics"][key]) if key in line["metrics"] else ABSENT
                      for key, _ in PROFILE_COLUMNS]
            rows.append([link(step), f"`{line['kernel'].partition('<')[0]}`", *values])
    head = ["step", "kernel", *(label for _, label in PROFILE_COLUMNS)]
    used = [i for i in range(len(head)) if any(row[i] != ABSENT for row in rows)]
    return markdown([head[i] for i in used], [[row[i] for i in used] for row in rows])


def variant_rows(facts: Facts) -> Optional[str]:
    rows = []
    for m in variants(facts):
        rate = m.record.giga_interactions_per_second("compute").median
        original = original_of(m, facts)
        ratio = ABSENT if original is None else (
            f"{rate / original.record.giga_interactions_per_second('compute').median:.3f}")
        rows.append([m.name, str(problem_of(m.record)), str(m.record.device_count),
                     with_range(m.record.seconds("total")), plain(rate), ratio])
    return markdown(("variant", "systems x bodies x steps", "GPUs", "total (IQR)", "G/s",
                     "G/s over the step itself"), rows)


def original_of(variant: Measured, facts: Facts) -> Optional[Measured]:
    """The step that a variant is one of: from the same file if it is there, otherwise the newest."""
    if STEP_NAME.fullmatch(variant.name) is None:
        return None
    found = [m for m in facts.measured if m.name in facts.steps and m.name[:6] == variant.name[:6]
             and problem_of(m.record) == problem_of(variant.record)
             and m.record.device_count == variant.record.device_count]
    return max(found, key=lambda m: m.rank, default=None)


TABLES: dict[str, Callable[[Facts], Optional[str]]] = {
    "machines": machines, "staircase": staircase, "predictions": predictions, "devices": devices,
    "single": single, "accuracy": accuracy, "cpu": cpu, "profile": profile, "variants": variant_rows,
}


def table(name: str, facts: Facts) -> Optional[str]:
    if name not in TABLES:
        raise FactError(f"there is no table '{name}', but {', '.join(TABLES)}")
    return TABLES[name](facts)
