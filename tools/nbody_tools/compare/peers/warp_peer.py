"""Computes the forces with NVIDIA Warp: with one thread per body, or with tiles of 64 bodies in
shared memory (--tiles), as in NVIDIA's lesson."""

from __future__ import annotations

import sys

from nbody_tools.compare.peers.peer import NotHere, main, text

THREADS = 256
TILES = "--tiles" in sys.argv
if TILES:
    sys.argv.remove("--tiles")


def versions(device: str) -> tuple[str, str]:
    import warp

    warp.config.quiet = True
    warp.init()
    if device == "cuda" and not warp.is_cuda_available():
        raise NotHere("Warp finds no GPU")
    return f"Warp {warp.__version__}", text(
        warp.get_device("cuda:0" if device == "cuda" else "cpu").name
    )


class Peer:
    def __init__(self, positions, velocities, masses, dt, softening, device) -> None:
        import numpy
        import warp

        self.count, self.dt, self.softening_squared = len(masses), dt, softening ** 2
        # Massless bodies fill the last tile.
        empty = numpy.zeros((-self.count % 64, 4), dtype=numpy.float32)
        packed = numpy.concatenate([positions, masses[:, None]], axis=1)
        self.warp, self.device = warp, "cuda:0" if device == "cuda" else "cpu"
        self.x = warp.array(numpy.concatenate([packed, empty]), dtype=warp.vec4, device=self.device)
        self.v = warp.array(numpy.concatenate([velocities, empty[:, :3]]), dtype=warp.vec3,
                            device=self.device)

    def advance(self, steps: int) -> None:
        from nbody_tools.compare.peers import warp_kernels as kernels  # compiled once per process

        kick = kernels.kick_by_tiles if TILES else kernels.kick
        rows = len(self.x)
        for _ in range(steps):
            self.warp.launch(
                kick,
                dim=rows,
                inputs=(self.x, self.v, rows, self.dt, self.softening_squared),
                block_dim=64 if TILES else THREADS,  # a block that loads tiles has their size
                device=self.device,
            )
            self.warp.launch(kernels.drift, dim=rows, inputs=(self.x, self.v, self.dt),
                             device=self.device)

    def wait(self) -> None:
        self.warp.synchronize()

    def state(self):
        return self.x.numpy()[:self.count, :3], self.v.numpy()[:self.count]


if __name__ == "__main__":
    main(Peer, versions)
