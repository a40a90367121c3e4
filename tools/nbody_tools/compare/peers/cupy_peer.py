"""Computes the forces with CuPy arrays."""

from __future__ import annotations

from nbody_tools.compare.peers.peer import NotHere, main, rows_at_once


def versions(device: str) -> tuple[str, str]:
    import cupy

    try:
        properties = cupy.cuda.runtime.getDeviceProperties(0)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise NotHere(f"CuPy finds no GPU: {error}") from error
    return f"CuPy {cupy.__version__}", properties["name"].decode()


class Peer:
    def __init__(self, positions, velocities, masses, dt, softening, device) -> None:
        import cupy

        self.cupy = cupy
        self.x, self.v, self.m = (cupy.asarray(a) for a in (positions, velocities, masses))
        self.dt, self.softening_squared = cupy.float32(dt), cupy.float32(softening ** 2)
        self.rows = rows_at_once(len(masses))

    def forces(self, some):
        d = self.x[None, :, :] - some[:, None, :]
        squared = (d * d).sum(-1) + self.softening_squared
        w = self.m / (squared * self.cupy.sqrt(squared))
        return (w[:, :, None] * d).sum(1)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            a = self.cupy.concatenate([self.forces(self.x[first:first + self.rows])
                                       for first in range(0, len(self.x), self.rows)])
            self.v = self.v + a * self.dt
            self.x = self.x + self.v * self.dt

    def wait(self) -> None:
        self.cupy.cuda.get_current_stream().synchronize()

    def state(self):
        return self.cupy.asnumpy(self.x), self.cupy.asnumpy(self.v)


if __name__ == "__main__":
    main(Peer, versions)
