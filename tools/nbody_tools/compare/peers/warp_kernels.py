"""Kernels of warp_peer.py, with one thread per body. As in NVIDIA's lesson on Warp, one kernel
reads each body from global memory, and the other one reads tiles that its block has loaded."""

# The annotations of kernels are calls, which Warp reads.
# mypy: ignore-errors

import warp as wp

TILE = wp.constant(64)


@wp.func
def attraction(d: wp.vec3, mass: float, softening_squared: float):
    r = 1.0 / wp.sqrt(wp.dot(d, d) + softening_squared)
    return mass * r * r * r * d


@wp.func
def place(x: wp.vec4):
    return wp.vec3(x[0], x[1], x[2])


@wp.kernel
def kick(x: wp.array(dtype=wp.vec4), v: wp.array(dtype=wp.vec3), n: int, dt: float,
         softening_squared: float):
    i = wp.tid()
    own = place(x[i])
    a = wp.vec3(0.0, 0.0, 0.0)
    for j in range(n):
        a += attraction(place(x[j]) - own, x[j][3], softening_squared)
    v[i] += dt * a


@wp.kernel
def kick_by_tiles(x: wp.array(dtype=wp.vec4), v: wp.array(dtype=wp.vec3), n: int, dt: float,
                  softening_squared: float):
    i = wp.tid()
    own = place(x[i])
    a = wp.vec3(0.0, 0.0, 0.0)
    for k in range(n / TILE):
        tile = wp.tile_load(x, shape=TILE, offset=k * TILE)
        for j in range(TILE):
            source = tile[j]
            a += attraction(place(source) - own, source[3], softening_squared)
    v[i] += dt * a


@wp.kernel
def drift(x: wp.array(dtype=wp.vec4), v: wp.array(dtype=wp.vec3), dt: float):
    i = wp.tid()
    moved = place(x[i]) + dt * v[i]
    x[i] = wp.vec4(moved[0], moved[1], moved[2], x[i][3])
