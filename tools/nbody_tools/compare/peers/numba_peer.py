"""Computes the forces with a Numba kernel that has one thread per body and is compiled with
fastmath."""

from __future__ import annotations

import os

from nbody_tools.compare.peers.peer import NotHere, main, text

THREADS = 256


def versions(device: str) -> tuple[str, str]:
    if device == "cpu":
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    import numba
    from numba import cuda

    if not cuda.is_available():
        raise NotHere("Numba finds no GPU")
    return f"Numba {numba.__version__}", "simulator" if device == "cpu" else text(
        cuda.get_current_device().name
    )


class Peer:
    def __init__(self, positions, velocities, masses, dt, softening, device) -> None:
        import numpy
        from numba import cuda

        self.cuda = cuda
        packed = numpy.concatenate([positions, masses[:, None]], axis=1)
        self.x, self.v = cuda.to_device(packed), cuda.to_device(velocities)
        self.dt, self.softening_squared = numpy.float32(dt), numpy.float32(softening ** 2)

    def advance(self, steps: int) -> None:
        from nbody_tools.compare.peers.numba_kernels import drift, kick  # compiled once per process

        blocks = (len(self.x) + THREADS - 1) // THREADS
        for _ in range(steps):
            kick[blocks, THREADS](self.x, self.v, self.dt, self.softening_squared)
            drift[blocks, THREADS](self.x, self.v, self.dt)

    def wait(self) -> None:
        self.cuda.synchronize()

    def state(self):
        return self.x.copy_to_host()[:, :3], self.v.copy_to_host()


if __name__ == "__main__":
    main(Peer, versions)
