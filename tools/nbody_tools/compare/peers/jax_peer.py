"""Computes the forces with JAX arrays; XLA compiles the loop over the time steps into one call."""

from __future__ import annotations

from functools import partial

from nbody_tools.compare.peers.peer import NotHere, main, rows_at_once


def versions(device: str) -> tuple[str, str]:
    import jax

    found = jax.devices()[0]
    if device == "cuda" and found.platform not in ("gpu", "cuda"):
        raise NotHere("JAX finds no GPU")
    return f"JAX {jax.__version__}", found.device_kind


class Peer:
    compiled: dict = {}  # the compiled functions of this process

    def __init__(self, positions, velocities, masses, dt, softening, device) -> None:
        import jax

        self.jax = jax
        self.x, self.v, self.m = (jax.device_put(a) for a in (positions, velocities, masses))
        if not self.compiled:
            self.compiled["run"] = jax.jit(
                partial(
                    self.run, dt=dt, softening_squared=softening**2, rows=rows_at_once(len(masses))
                )
            )
            self.compiled["run"](self.x, self.v, self.m, 1)

    @staticmethod
    def run(x, v, m, steps, dt, softening_squared, rows):
        import jax
        import jax.numpy as jnp

        def force(one, x):
            d = x - one
            w = m * jax.lax.rsqrt((d * d).sum(-1) + softening_squared) ** 3
            return (w[:, None] * d).sum(0)

        def step(_, state):
            x, v = state
            v = v + jax.lax.map(lambda one: force(one, x), x, batch_size=rows) * jnp.float32(dt)
            return x + v * jnp.float32(dt), v

        return jax.lax.fori_loop(0, steps, step, (x, v))

    def advance(self, steps: int) -> None:
        self.x, self.v = self.compiled["run"](self.x, self.v, self.m, steps)

    def wait(self) -> None:
        self.jax.block_until_ready((self.x, self.v))

    def state(self):
        return self.x, self.v


if __name__ == "__main__":
    main(Peer, versions)
