"""Defines the part of ./nbody measure that compares step 15 with third-party programs, for
docs/results/tree_peers/. The user gives the paths of these programs; the repository contains none
of their code.
Uses only the standard library.

Each of these programs generates its own bodies, the same ones in every run. This module generates
identical bodies for step 15.
"""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from nbody_tools.arguments import Failed, write_json
from nbody_tools.compare import bodies as made
from nbody_tools.measure.bench import Bench
from nbody_tools.records.record import Record
from nbody_tools.tree.measure import TIMED, TREE, UNCHECKED, angle

DIRECT = "step11_register_blocking"
POWERS = (16, 20)  # the numbers of bodies are these powers of two
ECL_STEPS, ECL_SOFTENING = 10, 0.05
CUBE, CUBE_SOFTENING = (
    3.0,
    1e-3,
)  # half of the cube's side, and the softening, which the demo applies only to the nearest bodies
ANGLES = (
    (0.4, 2),
    (0.5, 2),
    (0.6, 2),
    (0.7, 2),
    (0.8, 2),
    (0.9, 2),
    (1.0, 2),
    (0.4, 0),
    (0.5, 0),
    (0.6, 0),
)
COMPARED = 8192  # number of bodies whose errors are computed


@dataclass(frozen=True)
class Peer:
    """The results of a third-party program. `rms` and `p99` are the RMS and the 99th percentile of
    |a - a_ref| / |a_ref| over the bodies, or None if the program does not report them."""

    name: str
    bodies: int
    seconds: float
    what: str  # the timed part of a time step
    rms: Optional[float] = None
    p99: Optional[float] = None

    @property
    def quantity(self) -> str:
        """Returns the name of the error that is compared with step 15: "rms" or "p99"."""
        return "p99" if self.rms is None else "rms"

    @property
    def error(self) -> Optional[float]:
        return getattr(self, self.quantity)


def tree_peers(bench: Bench) -> None:
    """step 15 compared with ECL-BH and Ryoanji's demo on their bodies (--ecl-bh, --ryoanji)"""
    found: list[Peer] = []
    for name, beside in (("ecl-bh", beside_ecl_bh), ("ryoanji", beside_ryoanji)):
        program = bench.peers[name]
        if program is None:
            bench.say(f"--{name} needs a path")
            continue
        for power in POWERS:
            peer, ours = beside(bench, program, power)
            found.append(peer)
            write_json(bench.folder / "peers.json", [asdict(one) for one in found])
            bench.say(verdict(peer, ours))


def verdict(peer: Peer, ours: Sequence[Record]) -> str:
    begin = f"{peer.name}, {peer.bodies} bodies: {peer.what} {peer.seconds:.3g} s"
    if peer.error is None:
        return f"{begin}; no error, because it does not report its forces"
    begin += f", {peer.quantity} {peer.error:.1e}"
    best = fastest_as_accurate(peer, ours)
    if best is None:
        return f"{begin}; step 15 is less accurate at every angle"
    angle_of = best.data["approximation"]
    return (f"{begin}; step 15 with theta {angle_of['theta']:g}, multipole "
            f"{angle_of['multipole']}: {step_of(best):.3g} s per time step, {peer.quantity} "
            f"{best.data['force_error'][peer.quantity]:.1e}, {peer.seconds / step_of(best):.2f} "
            "times as fast")


def fastest_as_accurate(peer: Peer, ours: Sequence[Record]) -> Optional[Record]:
    good = [record for record in ours if record.problem.bodies == peer.bodies
            and record.data["force_error"][peer.quantity] <= peer.error]
    return min(good, key=step_of, default=None)


def step_of(record: Record) -> float:
    return record.seconds("compute").median / record.problem.steps


def at_all_angles(bench: Bench, path: Path, softening: float) -> list[Record]:
    records = (
        bench.record(
            TREE,
            "--input",
            path,
            "--softening",
            softening,
            "--steps",
            2,
            *angle(*one),
            *TIMED,
            "--force-error",
            COMPARED,
        )
        for one in ANGLES
    )
    return [record for record in records if record is not None]


def beside_ecl_bh(bench: Bench, program: Path, power: int) -> tuple[Peer, list[Record]]:
    """Runs ECL-BH, then step 15 on ECL-BH's bodies. ECL-BH takes the number of bodies and the
    number of time steps as arguments, and reports the total time. If ECL-BH was built with
    -DDEBUG, it also prints its bodies and their last accelerations."""
    count = 2 ** power
    path = made.write_bin(
        bench.folder / f"ecl_bh_{count}.bin", ecl_bodies(count), f"ecl_bh_{count}"
    )
    printed = bench.run(f"ecl_bh.{count}.log", [program, count, ECL_STEPS])
    seconds = number_in(printed, r"Total kernel execution time: ([\d.]+) s") / ECL_STEPS
    printed = bench.run(f"ecl_bh.{count}.one_step.log", [program, count, 1])
    found = dict(accelerations_in(printed))
    rms = p99 = None
    if len(found) == count:
        rms, p99 = errors_of(found, direct_accelerations(bench, path, count))
    ours = at_all_angles(bench, path, ECL_SOFTENING)
    for large in (path, *bench.folder.glob("ecl_bh.*.log")):
        large.unlink()
    return Peer("ECL-BH", count, seconds, "a time step", rms, p99), ours


def ecl_bodies(count: int) -> array:
    """Returns ECL-BH's bodies: a Plummer sphere without its outermost thousandth (Aarseth,
    Henon, Wielen 1974), drawn with the random-number generator that the C standard gives as an
    example. The bodies are at rest. The function nevertheless draws random numbers for their
    velocities, as ECL-BH does, because the next body's position depends on the state of the
    generator."""
    state, scale = 7, 3 * math.pi / 16

    def draw() -> float:
        nonlocal state
        last, state = state, (1103515245 * state + 12345) & 0x7FFFFFFF
        return last / 2 ** 31

    def direction() -> tuple[float, float, float, float]:
        while True:
            x, y, z = (2 * draw() - 1 for _ in range(3))
            squared = x * x + y * y + z * z
            if squared <= 1:
                return x, y, z, math.sqrt(squared)

    values = array("f")
    for _ in range(count):
        radius = 1 / math.sqrt((0.999 * draw()) ** (-2 / 3) - 1)
        x, y, z, length = direction()
        s = scale * radius / length
        values.extend((s * x, s * y, s * z, 0, 0, 0, 1 / count))
        while True:
            speed, height = draw(), 0.1 * draw()
            if height <= speed * speed * (1 - speed * speed) ** 3.5:
                break
        direction()
    return values


def accelerations_in(printed: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields a body's index and acceleration from each line with an index and four values: the
    three components of the acceleration, and the velocity along z."""
    for line in re.finditer(r"^(\d+): (\S+) (\S+) (\S+) \S+$", printed, re.MULTILINE):
        yield int(line[1]), line.groups()[1:]


def direct_accelerations(
    bench: Bench, path: Path, count: int
) -> Callable[[int], tuple[float, ...]]:
    after = bench.folder / "after.bin"
    bench.run(
        "direct.log",
        [
            bench.program(DIRECT),
            "--input",
            path,
            "--steps",
            1,
            "--dt",
            made.DT,
            "--softening",
            ECL_SOFTENING,
            "--output",
            after,
            *UNCHECKED,
            "--quiet",
        ],
    )
    values = made.read_state(after, count)
    after.unlink()
    return lambda i: tuple(v / made.DT for v in values[made.VALUES * i + 3:made.VALUES * i + 6])


def errors_of(
    found: dict[int, tuple[str, ...]], exact: Callable[[int], tuple[float, ...]]
) -> tuple[float, float]:
    """Returns the RMS error and the 99th percentile of the errors. The RMS error excludes the mean
    effect of rounding to the printed digits."""
    relative, rounding = [], 0.0
    for i, texts in found.items():
        a = exact(i)
        scale = math.sqrt(sum(x * x for x in a))
        relative.append(math.sqrt(sum((float(text) - x) ** 2 for text, x in zip(texts, a))) / scale)
        rounding += sum(last_digit(text) ** 2 / 12 for text in texts) / scale ** 2
    relative.sort()
    squares = sum(error * error for error in relative) - rounding
    return math.sqrt(max(squares, 0) / len(relative)), relative[math.ceil(0.99 * len(relative)) - 1]


def last_digit(text: str) -> float:
    """Returns the value of one unit in the number's last digit: 1e-6 for 1.23e-04."""
    digits, exponent = text.split("e")
    return 10.0 ** (int(exponent) - len(digits.partition(".")[2]))


def beside_ryoanji(bench: Bench, program: Path, power: int) -> tuple[Peer, list[Record]]:
    """Runs Ryoanji's demo, then step 15 on the demo's bodies. The demo takes the binary logarithm
    of the number of bodies as its argument, and compares its forces with a direct sum."""
    path = made.write_bin(
        bench.folder / f"cube_{power}.bin", cube_bodies(2**power - 1), f"cube_{power}"
    )
    printed = bench.run(f"ryoanji.{power}.log", [program, power])
    peer = Peer(
        "Ryoanji's demo",
        2**power - 1,
        number_in(printed, r"Traverse\s*: ([\d.]+) s"),
        "the walk alone",
        p99=number_in(printed, r"1st percentile: (\S+)"),
    )
    ours = at_all_angles(bench, path, CUBE_SOFTENING)
    path.unlink()
    return peer, ours


def cube_bodies(count: int) -> array:
    """Returns the bodies of Ryoanji's demo, drawn with drand48(): random positions in a cube, and
    masses up to twice the mean. The first and the last body are in corners."""
    state = 0  # glibc's initial state

    def draw() -> float:
        nonlocal state
        state = (0x5DEECE66D * state + 0xB) % 2 ** 48
        return state / 2 ** 48

    values = array("f")
    for _ in range(count):
        x, y, z = (draw() * 2 * CUBE - CUBE for _ in range(3))
        values.extend((x, y, z, 0, 0, 0, draw() / count))
    values[0:3] = array("f", 3 * (-CUBE,))
    last = made.VALUES * (count - 1)
    values[last:last + 3] = array("f", 3 * (CUBE,))
    return values


def number_in(printed: str, pattern: str) -> float:
    line = re.search(pattern, printed)
    if line is None:
        raise Failed(f"the output has no line that matches '{pattern}'")
    return float(line[1])
