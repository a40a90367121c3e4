"""Lists phrases that make a native reader stop: a pattern, a reason, and an alternative for each.

The rules are hints, and the check that uses them never fails. Remove a rule that is often wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    name: str
    pattern: re.Pattern[str]  # applied to a sentence in which all `code` is replaced by `...`
    reason: str
    instead: str


def rule(name: str, pattern: str, reason: str, instead: str) -> Rule:
    return Rule(name, re.compile(pattern), reason, instead)


RULES = (
    rule("of-first", r"^(Of (?!course)|(That|Those) of |Likewise\b)",
         "readers take the first words for the topic", "name the thing, or what is returned"),
    rule("what-first", r"^What (?!follows)[^?*]*$", "it reads as a question",
         "begin with a noun or a verb"),
    rule("whether-first", r"^Whether\b", "half a sentence", "True if ..., or Tests whether ..."),
    rule("is-no",
         r"(?<!here )\b(is|are|was|were) no (?!longer|more|less|worse|doubt|need|reason|\w+er )\w+",
         "emphatic in English, as in 'he is no expert'", "is not a"),
    rule("so-many", r"\b[Ss]o many\b(?! that| as)", "the number has no name",
         "`count`, n, this many"),
    rule("by-night", r"\b([Bb]y (day|night)|at night|every night)\b",
         "a private word", "in the quick tests; nightly"),
    rule("private-word", r"\b([Rr]ooms|[Ff]loors|the house|side roads?|strangers?)\b",
         "must be learnt first, and no search finds it",
             "module, layer, experiment, third party"),
    rule("asked-told", r"\b(is|are|was|were|be) (asked|told)\b(?! to| for| apart)",
         "programs are not persons", "is queried, tested; is given, reported"),
    rule("of-its-own", r"\b[Aa]n? [\w ]{3,25} of (its|their|our|his|your) own\b", "heavy",
         "its own, a separate"),
    rule("as-it-is", r"\bas (it|they) (is|are|stands?|was|were)(?=[.,;:]|$)",
         "the reader must guess what 'it' is",
         "unchanged"),
    rule("goes-on", r"\b(go|goes|going|went) on\b(?! to)|\bgo(es)? down (a|the) tree",
         "not the field's word",
         "continues, resumes; traverses"),
    rule("beside", r"\bbeside\b", "reads as 'besides'", "next to; besides; compared with"),
    rule("but-for", r"\bbut for\b", "means 'without the help of'", "except for"),
    rule("what-is",
         r"\b(of|from|for|to|with|than|only|all|and|between|by) what (is|was|are|were) (?!wrong)",
         "the thing has no name", "name it"),
    rule("where-there-is", r"\b[Ww]here there (is|are)\b|\bsuch a one\b|\bthere is none\b",
         "a place is not a condition",
         "if ... is available"),
)
