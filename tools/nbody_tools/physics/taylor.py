"""Integrates a few point masses with Taylor series in extended precision: a reference for orbits.

The coefficients of a series follow from one another: if u = |x_j - x_i|^2 has the coefficients
u_0, u_1, ..., then those of w = u^(-3/2) are

  w_n = 1 / (n u_0) sum_{k=0}^{n-1} (-3/2 (n - k) - k) u_{n-k} w_k

(Jorba & Zou 2005, Experimental Mathematics 14, 99), and x_{n+2} = a_n / ((n + 1) (n + 2)).
numpy.longdouble has 64 bits of mantissa on x86, and 113 on arm64 under Linux.
"""

from __future__ import annotations

import numpy

Real = numpy.longdouble
ORDER = 36


def series(x: numpy.ndarray, v: numpy.ndarray, m: numpy.ndarray,
           lost: tuple[numpy.ndarray, numpy.ndarray]) -> numpy.ndarray:
    """Returns the Taylor coefficients of the positions as functions of time, an array of shape
    (ORDER + 1, n, 3). `lost` has the digits that rounding dropped from x and v; these digits
    matter for the distance of a close pair."""
    first, second = numpy.triu_indices(len(m), 1)
    out = numpy.zeros((ORDER + 1, *x.shape), Real)
    out[0], out[1] = x, v
    d = numpy.zeros((ORDER + 1, len(first), 3), Real)
    u = numpy.zeros((ORDER + 1, len(first)), Real)
    w = numpy.zeros_like(u)
    k = numpy.arange(ORDER + 1, dtype=Real)
    for n in range(ORDER - 1):
        d[n] = out[n, second] - out[n, first]
        if n < 2:
            d[n] += lost[n][second] - lost[n][first]
        u[n] = (d[:n + 1] * d[n::-1]).sum((0, 2))
        if n == 0:
            w[0] = 1 / (u[0] * numpy.sqrt(u[0]))
        else:
            factors = (-Real(1.5) * (n - k[:n]) - k[:n])[:, None]
            w[n] = (factors * u[n:0:-1] * w[:n]).sum(0) / (n * u[0])
        pull = (w[:n + 1, :, None] * d[n::-1]).sum(0)
        a = numpy.zeros_like(x)
        numpy.add.at(a, first, m[second, None] * pull)
        numpy.add.at(a, second, -m[first, None] * pull)
        out[n + 2] = a / ((n + 1) * (n + 2))
    return out


def integrate(positions: numpy.ndarray, velocities: numpy.ndarray, masses: numpy.ndarray,
              time: float, error: float = 1e-26) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Returns the positions and velocities after `time` > 0, in units where G = 1 and without
    softening. Each step is as long as possible, provided that the last terms of its series
    stay within `error` times the first term."""
    x, v, m = (numpy.asarray(array, Real) for array in (positions, velocities, masses))
    lost = numpy.zeros_like(x), numpy.zeros_like(v)  # digits of x and v that sums have dropped
    now = Real(0)
    while now < time:
        terms = series(x, v, m, lost)
        size = numpy.abs(terms[1:]).max((1, 2))
        scale = max(size[0], numpy.abs(terms[0]).max() * Real(1e-3))
        h = min((error * scale / size[n - 1]) ** (Real(1) / n) for n in (ORDER - 1, ORDER)
                if size[n - 1] > 0)
        h = min(h, time - now)
        powers = h ** numpy.arange(ORDER + 1, dtype=Real)
        dx = (terms[1:] * powers[1:, None, None])[::-1].sum(0)
        rates = numpy.arange(2, ORDER + 1, dtype=Real)[:, None, None] * terms[2:]
        dv = (rates * powers[1:-1, None, None])[::-1].sum(0)
        x, v = (compensated(old, change, rest)
                for old, change, rest in zip((x, v), (dx, dv), lost))
        now += h
    return x, v


def compensated(old: numpy.ndarray, change: numpy.ndarray, lost: numpy.ndarray) -> numpy.ndarray:
    """Returns old + change. Stores in `lost` the digits that rounding drops, and adds these digits
    in the next call (Kahan 1965)."""
    change = change + lost
    new = old + change
    lost[...] = change - (new - old)
    return new
