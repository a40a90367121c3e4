"""Converts a run's numbers to named units for labels of figures, as common/io/units.h does."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from nbody_tools.design.tokens import value

if TYPE_CHECKING:
    from nbody_tools.files.bodies import Bodies

AU = 149597870700.0  # m
KPC = 1e3 * 648000 / math.pi * AU  # m
SUN_GM = 1.3271244e20  # m^3 s^-2
YEAR = 365.25 * 86400  # s

PRESETS = {
    "au-msun-yr2pi": (AU, SUN_GM),
    "AU, Msun, yr/2pi": (AU, SUN_GM),
    "kpc-msun": (KPC, SUN_GM),
    "kpc-100kms": (KPC, KPC * 1e10),
}
OTHER = re.compile(r"([0-9.e+-]+) kpc, ([0-9.e+-]+) Msun")


@dataclass(frozen=True)
class Unit:
    """One unit of the run is `size` times the unit called `name`."""
    size: float
    name: str

    def label(self, quantity: str) -> str:
        return f"{quantity} ({self.name})"

    def text(self, number: float) -> str:
        """Formats a value in the run's units with three digits and a unit: "530 Myr"."""
        return f"{_plain(number * self.size)} {self.name}".strip()


@dataclass(frozen=True)
class Units:
    length: Unit
    time: Unit


def units_of(text: str) -> Optional[Units]:
    """Returns the units that a file specifies, or None if these units have no physical scale."""
    found = OTHER.fullmatch(text)
    if found:
        length, mass_gm = float(found.group(1)) * KPC, float(found.group(2)) * SUN_GM
    elif text in PRESETS:
        length, mass_gm = PRESETS[text]
    else:
        return None
    planets = length < KPC / 1e3
    return Units(
        Unit(length / (AU if planets else KPC),
             value("unit-length-planets" if planets else "unit-length-galaxies")),
        _time(math.sqrt(length**3 / mass_gm) / YEAR))


def length_of(text: str) -> Unit:
    """Returns the length unit among the units that a file specifies, even if these units have no
    physical scale."""
    units = units_of(text)
    return units.length if units else Unit(1, text or value("unit-none"))


def time_text(bodies: "Bodies") -> str:
    """Returns the time of a state with its unit, such as "394 Myr", or "t = 36" if the units have
    no physical scale."""
    units = units_of(bodies.units)
    return units.time.text(bodies.time) if units else f"t = {bodies.time:.4g}"


def _time(years: float) -> Unit:
    """Returns the unit of time that makes the times of a run easiest to read. `years` is the length
    of the run's own time unit."""
    for token, size in (("unit-time-giga", 1e9), ("unit-time-mega", 1e6)):
        if years >= size:
            return Unit(years / size, value(token))
    return Unit(years, value("unit-time"))


def _plain(number: float) -> str:
    """Formats a number with three digits. Numbers from 0.001 to a million get no exponent."""
    if number == 0 or not 1e-3 <= abs(number) < 1e6:
        return f"{number:.3g}"
    digits = max(0, 2 - math.floor(math.log10(abs(number))))
    return f"{number:,.{digits}f}"
