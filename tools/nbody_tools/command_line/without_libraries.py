"""Imports a command's module without its numerical and drawing libraries, to read its options.

Importing matplotlib takes longer than the rest of --help, and --help must also work without
matplotlib. The commands' modules import such libraries at the top and already use names of the
libraries during the import, so empty modules take the libraries' place.
"""

from __future__ import annotations

import contextlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Iterator, Optional, Sequence

LIBRARIES = ("numpy", "matplotlib", "jinja2")
THEIRS = ("PIL",)  # installed together with matplotlib


class Anything(float):
    """Stands for any name that a module imports from a library; can be multiplied like a number."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *words: Any, **named: Any) -> "Anything":
        return self

    def __mro_entries__(self, bases: tuple) -> tuple[type, ...]:
        return (object,)


class EmptyModule(ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class EmptyModules(MetaPathFinder, Loader):
    def find_spec(
        self, name: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        return (
            ModuleSpec(name, self, is_package=True)
            if name.partition(".")[0] in LIBRARIES + THEIRS
            else None
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return EmptyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


@contextlib.contextmanager
def without_libraries() -> Iterator[None]:
    """Replaces the libraries inside a `with` block. Modules that the block imports are useless
    afterwards, so only a process that is about to exit may enter the block."""
    finder = EmptyModules()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
