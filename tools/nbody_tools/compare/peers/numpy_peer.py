"""Computes the forces with NumPy arrays, on the CPU."""

from __future__ import annotations

from nbody_tools.compare.peers.peer import CHUNK_BYTES_OF_A_CPU, NotHere, main, rows_at_once


def versions(device: str) -> tuple[str, str]:
    import numpy

    if device == "cuda":
        raise NotHere("NumPy computes on the CPU only")
    return f"NumPy {numpy.__version__}", "CPU"


class Peer:
    def __init__(self, positions, velocities, masses, dt, softening, device) -> None:
        import numpy

        self.numpy = numpy
        self.x, self.v, self.m = positions, velocities, masses
        self.dt, self.softening_squared = numpy.float32(dt), numpy.float32(softening ** 2)
        self.rows = rows_at_once(len(masses), CHUNK_BYTES_OF_A_CPU)

    def forces(self, some):
        d = self.x[None, :, :] - some[:, None, :]
        squared = (d * d).sum(-1) + self.softening_squared
        w = self.m / (squared * self.numpy.sqrt(squared))
        return (w[:, :, None] * d).sum(1)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            a = self.numpy.concatenate([self.forces(self.x[first:first + self.rows])
                                        for first in range(0, len(self.x), self.rows)])
            self.v = self.v + a * self.dt
            self.x = self.x + self.v * self.dt

    def wait(self) -> None:
        pass  # a call of NumPy returns only when its result is computed

    def state(self):
        return self.x, self.v


if __name__ == "__main__":
    main(Peer, versions)
