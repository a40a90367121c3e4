"""Writes findings as SARIF 2.1.0, so that editors and GitHub show each finding at its line."""
import json
import re
from pathlib import Path

from libraries import version

SCHEMA = ("https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
          "sarif-schema-2.1.0.json")
HARMLESS = ("leak", "unused memory", "unchecked error")  # mistakes that change no result
# Rules for findings that have no kind, by the run that reports them.
RULES = {"compiled": "host and device code", "AddressSanitizer": "address sanitizer"}
OTHER_RULE = "emulated run"
PLACE = re.compile(r"([^\s:()'\"]+\.\w+):(\d+)\b")


def kind_of(finding, record):
    return record["kind"] if record else RULES.get(finding.mode, OTHER_RULE)


def uri_of(file, root):
    """Returns the file's path relative to `root`, as GitHub requires, or a file: URI if the file is
    not in `root`."""
    path = (root / file).resolve()
    try:
        return path.relative_to(root.resolve()).as_posix()
    except ValueError:
        return path.as_uri()


def location(file, line, root):
    return {"physicalLocation": {"artifactLocation": {"uri": uri_of(file, root)},
                                 "region": {"startLine": max(1, int(line))}}}


def places(finding, record):
    """Returns a list of (file, line): the place of the finding, then the other places that it
    mentions."""
    first = [(record["file"], record["line"])] if record and "file" in record else []
    text = f"{finding.what}\n{finding.details}"
    named = [(file, int(line)) for file, line in PLACE.findall(text)]
    if first:  # the text of a finding gives the launch's file without its folder
        here = Path(first[0][0])
        named = [(str(here) if file == here.name else file, line) for file, line in named]
    return list(dict.fromkeys(first + named))


def result(finding, record, root):
    kind = kind_of(finding, record)
    text = "\n".join([finding.what, *(line.strip() for line in finding.details.splitlines())])
    one = {"ruleId": kind.replace(" ", "-"),
           "level": "warning" if kind in (*HARMLESS, RULES["compiled"]) else "error",
           "message": {"text": text}}
    where = [location(file, line, root) for file, line in places(finding, record)]
    if where:
        one["locations"] = where[:1]
    if where[1:]:
        one["relatedLocations"] = [{"id": number, **place}
                                   for number, place in enumerate(where[1:])]
    return one


def document(findings, traced, root):
    """Returns the SARIF document. findings: the findings that `hostcuda check` prints. traced: the
    findings as the trace recorded them. root: paths in the document are relative to it."""
    records = {record["what"]: record for record in traced}
    kinds = sorted({kind_of(one, records.get(one.what)) for one in findings})
    rules = [{"id": kind.replace(" ", "-"), "shortDescription": {"text": kind}} for kind in kinds]
    driver = {"name": "hostcuda", "version": version(), "rules": rules}
    return {"$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{"tool": {"driver": driver},
                      "results": [result(one, records.get(one.what), Path(root))
                                  for one in findings]}]}


def write(file, findings, traced, root):
    text = json.dumps(document(findings, traced, root), indent=1)
    Path(file).write_text(text + "\n", encoding="utf-8")
