"""Computes the forces with PyTorch tensors; uses torch.compile if the first argument is
--compiled."""

from __future__ import annotations

import sys

from nbody_tools.compare.peers.peer import NotHere, main, rows_at_once

COMPILED = sys.argv[1:2] == ["--compiled"]


def versions(device: str) -> tuple[str, str]:
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise NotHere("PyTorch finds no GPU")
    return (
        f"PyTorch {torch.__version__}",
        torch.cuda.get_device_name() if device == "cuda" else "CPU",
    )


class Peer:
    functions: dict = {}  # the compiled functions of this process

    def __init__(self, positions, velocities, masses, dt, softening, device) -> None:
        import torch

        self.torch = torch
        self.x, self.v, self.m = (
            torch.from_numpy(a).to(device) for a in (positions, velocities, masses)
        )
        self.dt, self.softening_squared, self.rows = dt, softening ** 2, rows_at_once(len(masses))
        if not self.functions:
            self.functions["forces"] = torch.compile(self.forces) if COMPILED else self.forces

    @staticmethod
    def forces(some, x, m, softening_squared):
        d = x[None, :, :] - some[:, None, :]
        w = m * ((d * d).sum(-1) + softening_squared).rsqrt() ** 3
        return (w[:, :, None] * d).sum(1)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            a = self.torch.cat(
                [
                    self.functions["forces"](some, self.x, self.m, self.softening_squared)
                    for some in self.x.split(self.rows)
                ]
            )
            self.v = self.v + a * self.dt
            self.x = self.x + self.v * self.dt

    def wait(self) -> None:
        if self.x.is_cuda:
            self.torch.cuda.synchronize()

    def state(self):
        return self.x.cpu().numpy(), self.v.cpu().numpy()


if __name__ == "__main__":
    if COMPILED:
        del sys.argv[1]
    main(Peer, versions)
