"""Defines the parts of ./nbody measure as functions; their docstrings become lines of --help."""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Callable, Iterator

from nbody_tools.accuracy.measure import (
    FIRST_STEP_OF_MANY_BLOCKS,
    accuracy,
    long_disk,
    production_sums,
    tensor_cores,
)
from nbody_tools.arguments import Failed, write_json_lines, write_whole_file
from nbody_tools.inspection.calibration import METRICS, PATTERNS, PROBLEM, STEPS
from nbody_tools.machine_code import loops
from nbody_tools.measure import ncu
from nbody_tools.measure.bench import Bench
from nbody_tools.measure.checks import checks, same_bits, sanitize
from nbody_tools.measure.galaxies import galaxies
from nbody_tools.measure.profile import interactions_of_a_launch, json_lines, profile_program
from nbody_tools.records.record import check_measurement, read_records
from nbody_tools.steps import STEP_FOLDERS, number_of
from nbody_tools.tree.measure import UNCHECKED, openings, sphere, tree
from nbody_tools.tree.peers import tree_peers

MAIN = ("--scenario", "galaxies", "--systems", 32, "--bodies", 8192, "--steps", 20)
WIDE = ("--scenario", "galaxies", "--systems", 256, "--bodies", 8192, "--steps", 20)
TIMED = ("--warmup", 1, "--repeat", 10)
OTHERS = ("step14_", "step15")  # step 14 and the trees are measured by other parts
FIRST_STEP_OF_CHUNKS = "10"  # from this step on, the sum over sources is divided into chunks
FIRST_STEP_OF_MASSES = "11"  # from this step on, equal or zero masses may save work
FLOAT64 = ("step11_register_blocking",)
SINGLE = (16384, 65536, 262144)
SMALL = (512, 1024, 2048, 4096, 8192)
BATCHES = ((32, 1024), (132, 512))
MILLION = 1125000
FORCES = "regex:^(partial_accelerations|advance)$"  # the kernels that compute forces
# For each step, (bodies, time steps) of the runs for counting, then of the runs for timing.
# Runs for counting are short, because Nsight Compute repeats a launch for every few counters.
LIMITS = {
    "11": (((65536, 1), (262144, 1)), ((65536, 5), (262144, 5))),
    "12": (((65536, 1), (262144, 1)), ((65536, 5), (262144, 5), (1048576, 1))),
    "13": (((2048, 100), (4096, 100), (8192, 100)), ((2048, 1000), (4096, 1000), (8192, 1000))),
}
QUEUES = (1, 2, 4, 8, 16, 32)
COPY_QUEUES = "CUDA_DEVICE_MAX_COPY_CONNECTIONS"


def direct(bench: Bench) -> list[str]:
    """Returns the steps that compute direct sums on one rank."""
    return [step for step in bench.steps if not step.startswith(OTHERS)]


def staircase(bench: Bench) -> None:
    """all steps with 32 systems x 8192 bodies x 20 time steps"""
    for step in direct(bench):
        bench.record(step, *MAIN, *TIMED)


def sizes(bench: Bench) -> None:
    """one system of 16384 to 262144 bodies, from step 10 on also of 1,125,000 bodies"""
    many_blocks = [step for step in direct(bench) if number_of(step) >= FIRST_STEP_OF_MANY_BLOCKS]
    for bodies in SINGLE:
        for step in many_blocks:
            bench.record(step, *sphere(bodies), *TIMED)
    for step in many_blocks:
        if number_of(step) >= FIRST_STEP_OF_CHUNKS:
            bench.record(step, *sphere(MILLION, 1), *TIMED)


def small(bench: Bench) -> None:
    """from step 10 on: one system of 512 to 8192 bodies, and many small systems; 1000 time steps"""
    for step in direct(bench):
        if number_of(step) < FIRST_STEP_OF_CHUNKS:
            continue
        for bodies in SMALL:
            bench.record(step, *sphere(bodies, 1000), *TIMED)
        for systems, bodies in BATCHES:
            bench.record(step, "--scenario", "galaxies", "--systems", systems, "--bodies", bodies,
                         "--steps", 1000, *TIMED)


def masses(bench: Bench) -> None:
    """from step 11 on: a system of unequal masses; planets and a million test particles"""
    from_11 = [step for step in direct(bench) if number_of(step) >= FIRST_STEP_OF_MASSES]
    for step in (*from_11, *bench.built("step12_always_asks")):
        for bodies in (*SINGLE, 1048576):
            bench.record(
                step, "--scenario", "star-cluster", "--bodies", bodies, "--steps", 2, *TIMED
            )
    bench.record(
        FLOAT64[0], "--scenario", "test-particles", "--bodies", 1048587, "--steps", 100, *TIMED
    )


def float64(bench: Bench) -> None:
    """--precision double in the steps that support it: 32 systems, and single systems"""
    for step in bench.built(*FLOAT64):
        for words in (MAIN, *(sphere(bodies, 1) for bodies in SINGLE)):
            bench.record(step, *words, "--precision", "double", *TIMED)


def variants(bench: Bench) -> None:
    """experiments/variants: programs that differ from a step in one thing"""
    folders = sorted((bench.build / "experiments/variants").glob(STEP_FOLDERS))
    if not folders:
        raise Failed("no variants in the build folder: configure with -D NBODY_VARIANTS=ON")
    for name in (folder.name for folder in folders):
        bench.record(name, *MAIN, *TIMED)
        for bodies in {"06": SINGLE[-1:], "09": SINGLE[-1:], "10": SINGLE[-1:], "12": SINGLE}.get(
                number_of(name), ()):
            bench.record(name, *sphere(bodies), *TIMED)


def timelines(bench: Bench) -> None:
    """overlap of copies and kernels in the steps with streams"""
    for name in bench.built("step05_streams", "step06_ldg_fastmath", "step07_overlap", "step09_soa",
                            "step07_by_system"):
        bench.record(name, *MAIN, "--warmup", 1, "--repeat", 1, *UNCHECKED,
                     "--timeline", bench.folder / f"{name}.timeline.csv")


def profile(bench: Bench) -> None:
    """Nsight Compute's counts for one time step with each step, for docs/results/profiles/"""
    for step in bench.gpu_steps:
        keep_profile(bench, step, step, (*MAIN[:-1], 1), "--launch-count", 4)
    gather_profiles(bench)


def limits(bench: Bench) -> None:
    """steps 11 to 13 with equal masses, for docs/limits.md: times, and Nsight Compute's counts"""
    of_steps = [
        (step, LIMITS[number_of(step)]) for step in direct(bench) if number_of(step) in LIMITS
    ]
    for step, (profiled, _) in of_steps:
        for bodies, steps in profiled:
            keep_profile(
                bench,
                f"{step}.{bodies}",
                step,
                sphere(bodies, steps),
                "--launch-count",
                1,
                "--kernel-name",
                FORCES,
            )
    gather_profiles(bench)
    for step, (_, timed) in of_steps:
        for bodies, steps in timed:
            bench.record(step, *sphere(bodies, steps), *TIMED)


def keep_profile(bench: Bench, name: str, step: str, problem: tuple, *choice: object) -> None:
    program = ncu_or_fail()
    try:
        csv, record = profile_program(step, bench.built_program(step), program, problem,
                                      ("--set", "full", *choice), bench.timeout)
        write_whole_file(bench.folder / f"{name}.ncu.csv", csv)
        kernels = ncu.aggregate(ncu.read_csv(csv, name), interactions_of_a_launch(record))
    except ncu.ProfileError as error:
        bench.fail(str(error))
        return
    write_json_lines(bench.folder / f"{name}.jsonl", json_lines(step, record, kernels))
    bench.say(f"{name}: {', '.join(kernel.kernel.partition('<')[0] for kernel in kernels)}")


def gather_profiles(bench: Bench) -> None:
    lines = (path.read_text(encoding="utf-8") for path in sorted(bench.folder.glob("step*.jsonl")))
    write_whole_file(bench.folder / "profiles.jsonl", "".join(lines))


def sass(bench: Bench) -> None:
    """issue slots per interaction from machine code: for docs/results/sass/; needs no GPU"""
    cuobjdump = loops.find_cuobjdump("cuobjdump")
    names = [*bench.gpu_steps, *bench.built("step12_masses_apart")]
    lines = [line for name in names
             for line in loops.count(name, bench.built_program(name), cuobjdump)]
    write_json_lines(bench.folder / "sass.jsonl", lines)
    for name in names:
        fewest = min(loops.slots_of(line) for line in lines if line["step"] == name)
        bench.say(f"{name}: {fewest:.2f} issue slots per interaction")


def patterns(bench: Bench) -> None:
    """Nsight Compute's counts, to check ./nbody inspect's predictions (./nbody calibrate chip)"""
    program = ncu_or_fail()
    listed = bench.run("metrics.txt", [program, "--query-metrics"])
    # If a chip lacks one metric, ncu rejects all of them.
    # Therefore only metrics that ncu lists are requested.
    wanted = sorted({metric for groups in METRICS.values() for group in groups for metric in group})
    metrics = [metric for metric in wanted
               if re.search(rf"^{re.escape(metric.removesuffix('.sum'))}\s", listed, re.MULTILINE)]
    for metric in sorted(set(wanted) - set(metrics)):
        bench.say(f"this chip does not have the metric {metric}")
    device = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()[0]
    version = subprocess.run([program, "--version"], capture_output=True, text=True,
                             check=True).stdout.splitlines()[-1]
    write_whole_file(bench.folder / "device.txt",
                     f"{device}\n{version}\n{datetime.now(timezone.utc):%Y-%m-%d}\n")
    size = [word for name, value in PROBLEM.items() for word in (f"--{name}", value)]
    for name in (PATTERNS, *STEPS):
        words = [] if name == PATTERNS else [
            "--scenario", "galaxies", *size, *UNCHECKED, "--quiet"]
        counted = (bench.build / "hostcuda/trace/patterns/patterns" if name == PATTERNS
                   else bench.built_program(name))
        csv = bench.folder / f"{name}.ncu.csv"
        bench.run(f"{name}.log", [program, *ncu.RAW, "--metrics", ",".join(metrics),
                                  "--log-file", csv, counted, *words])
        if csv.exists():
            bench.say(
                f"{name}: {len(ncu.read_cells(ncu.read_file(csv), str(csv)))} launches counted"
            )
        if shutil.which("cuobjdump"):
            write_whole_file(bench.folder / f"{name}.sass", memory_instructions(counted))


def memory_instructions(program: Path) -> str:
    """Lists the loads and stores in the machine code. If the chip's counts differ from the
    predicted ones, the usual reason is that nvcc has merged, hoisted or widened loads or stores."""
    sass = subprocess.run(
        ["cuobjdump", "--dump-sass", str(program)], capture_output=True, text=True, check=False
    ).stdout
    pattern = r"Function : .*|(?:LDG|LDS|STG|STS|RED|ATOMG|ATOMS)(?:\.[A-Z0-9]+)* .*;"
    return "".join(f"{line}\n" for line in re.findall(pattern, sass))


def devices(bench: Bench) -> None:
    """256 systems x 8192 bodies x 20 steps on 1, 2, 4 and 8 GPUs, if there are that many"""
    listed = bench.run("gpus.txt", ["nvidia-smi", "-L"])
    for count in (count for count in (1, 2, 4, 8) if count <= len(listed.splitlines())):
        for name in bench.built("step08_multigpu", "step08_one_enqueues", "step09_soa"):
            bench.record(name, *WIDE, "--devices", count, *TIMED,
                         "--timeline", bench.folder / f"{name}.{count}.timeline.csv")
    bench.record("step07_overlap", *WIDE, *TIMED)


def connections(bench: Bench) -> None:
    """step 07 in both stream orders, with 1 to 32 hardware queues, for docs/results/connections/"""
    settings: list[dict[str, str]] = [{}]
    for variable in ("CUDA_DEVICE_MAX_CONNECTIONS", COPY_QUEUES):
        settings += [{variable: str(queues)} for queues in QUEUES]
    for environment in settings:
        name = ("copy_" if COPY_QUEUES in environment else "") + "queues_"
        name += next(iter(environment.values()), "unset")
        bench.say(name)
        records = [bench.record(program, *MAIN, *TIMED, environment=environment)
                   for program in bench.built("step07_overlap", "step07_by_system")]
        write_json_lines(
            bench.folder / f"{name}.jsonl", (record.data for record in records if record)
        )


def cpu(bench: Bench) -> None:
    """the fast CPU program on the host"""
    bench.record("cpu_simd", *MAIN, *TIMED)
    bench.record("cpu_simd", *sphere(SINGLE[-1], 1), *TIMED)


def activity(bench: Bench) -> None:
    """experiments/activity_map: its tests, and every variant for several N and D"""
    folder = bench.build / "experiments/activity_map"
    bench.run("test.log", [folder / "activity_map_test"])
    for number, (rungs, words) in enumerate(activity_runs()):
        output = bench.folder / f"{number:02d}.json"
        output.unlink(missing_ok=True)
        bench.run(
            f"{number:02d}.log",
            [
                folder / "activity_map",
                "--steps",
                100,
                "--warmup",
                1,
                "--rung",
                rungs,
                *words,
                "--json",
                output,
            ],
        )
        if output.exists():
            for record in read_records(output, check_measurement):
                bench.keep(record.data)
        bench.say(f"{rungs} {' '.join(map(str, words))}")


def activity_runs() -> Iterator[tuple[str, tuple]]:
    over_bodies = ("--bodies", "1024,4096,10000,20000,50000", "--map", 10)
    yield (
        "baseline,block_256,rsqrt_of_cube,rsqrt,constant,columns_by_value,columns_by_pointers,"
        "columns_in_memory,read_only,read_only_in_memory,shared,map_alone",
        (*over_bodies, "--repeat", 10),
    )
    yield "pairs_atomic", ("--bodies", "1024,4096,10000", "--map", 10, "--repeat", 3)
    yield "pairs_matrix", (*over_bodies, "--repeat", 3)
    yield ("baseline,block_256,rsqrt,shared,normalise_once,touched_cells,map_alone",
           ("--bodies", 1024, "--map", "1000,5000,10000,15000", "--repeat", 10))
    for block in (32, 64, 128, 512, 1024):
        yield (
            "shared",
            ("--block", block, "--bodies", "1024,10000,50000", "--map", 10, "--repeat", 10),
        )
    yield "shared", ("--block", 1024, "--bodies", 1024, "--map", "1000,15000", "--repeat", 10)


def latencies(bench: Bench) -> None:
    """experiments/latencies: its tests, then all latencies, for docs/results/latencies/"""
    bench.run_experiment("latencies")


def ncu_or_fail() -> str:
    program = shutil.which("ncu")
    if program is None:
        raise Failed("no ncu (Nsight Compute) on the PATH")
    return program


PARTS: dict[str, Callable[[Bench], None]] = {
    part.__name__: part
    for part in (
        checks,
        sanitize,
        same_bits,
        staircase,
        sizes,
        small,
        masses,
        variants,
        timelines,
        profile,
        sass,
        patterns,
        devices,
        connections,
        cpu,
        activity,
        latencies,
        float64,
        accuracy,
        long_disk,
        tensor_cores,
        production_sums,
        tree,
        openings,
        tree_peers,
        galaxies,
        limits,
    )
}
