"""Suggests a known word that is similar to the unknown word that a user typed."""

from __future__ import annotations

import difflib
from typing import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """Returns the most similar of the known words, or "" if none is similar."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns ": did you mean X?", or "" if no known word is similar."""
    found = nearest(word, known)
    return f": did you mean {found}?" if found else ""
