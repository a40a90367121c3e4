"""Calls pytreegrav's Accel, which sums over all pairs, once per time step. pytreegrav softens
forces with a spline, so this program uses no softening, and its forces are compared with Newton's
law."""

from __future__ import annotations

from nbody_tools.compare.peers.peer import NotHere, main, text


def versions(device: str) -> tuple[str, str]:
    from importlib.metadata import version

    import pytreegrav  # noqa: F401  (the import fails if it is not installed)

    name = "CPU"
    if device == "cuda":
        from numba import cuda

        if not cuda.is_available():
            raise NotHere("pytreegrav finds no GPU")
        name = text(cuda.get_current_device().name)
    return f"pytreegrav {version('pytreegrav')}", name


class Peer:
    def __init__(self, positions, velocities, masses, dt, softening, device) -> None:
        self.x, self.v, self.m, self.dt, self.device = positions, velocities, masses, dt, device

    def advance(self, steps: int) -> None:
        from pytreegrav import Accel

        for _ in range(steps):
            a = Accel(self.x, self.m, method="bruteforce", parallel=True, device=self.device)
            self.v = self.v + a * self.dt
            self.x = self.x + self.v * self.dt

    def wait(self) -> None:
        pass  # Accel returns computed NumPy arrays

    def state(self):
        return self.x, self.v


if __name__ == "__main__":
    main(Peer, versions)
