"""Kernels of numba_peer.py, with one thread per body."""

import math

from numba import cuda, float32


@cuda.jit(fastmath=True)
def kick(x, v, dt, softening_squared):
    i = cuda.grid(1)
    if i < x.shape[0]:
        xi, yi, zi = x[i, 0], x[i, 1], x[i, 2]
        ax = ay = az = float32(0)
        for j in range(x.shape[0]):
            dx, dy, dz = x[j, 0] - xi, x[j, 1] - yi, x[j, 2] - zi
            r = float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + softening_squared)
            s = x[j, 3] * r * r * r
            ax += s * dx
            ay += s * dy
            az += s * dz
        v[i, 0] += ax * dt
        v[i, 1] += ay * dt
        v[i, 2] += az * dt


@cuda.jit
def drift(x, v, dt):
    i = cuda.grid(1)
    if i < x.shape[0]:
        for k in range(3):
            x[i, k] += v[i, k] * dt
