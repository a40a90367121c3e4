"""The races and divergent barriers of a trace, as sentences."""
import json
import linecache
import subprocess


def source_places(program, codes):
    """"file:line" of code at these offsets: the innermost frame that is not in hostcuda's headers."""
    places = {}
    if not codes:
        return places
    ended = subprocess.run(["addr2line", "-a", "-i", "-e", program], input="\n".join(map(hex, codes)),
                           stdout=subprocess.PIPE, text=True, check=True)
    for line in ended.stdout.splitlines():
        if line.startswith("0x"):
            code = int(line, 16)
        else:
            place = line.partition(" (")[0]
            known = places.get(code, "")
            if not known or "/include/hostcuda/" in known:
                places[code] = place
    return places


def text_of(place):
    file, _, line = place.rpartition(":")
    return linecache.getline(file, int(line)).strip() if line.isdigit() else ""


def side(access, places):
    place = places[access["code"]]
    thread, block = (tuple(access[name]) for name in ("thread", "block"))
    return (f"  {access['access']} by thread ({','.join(map(str, thread))}) of block "
            f"({','.join(map(str, block))}) at {place}\n    {text_of(place)}")


def findings_of_trace(file, program):
    """(what, details) of each race and divergent barrier."""
    with open(file, encoding="utf-8") as stream:
        trace = json.load(stream)
    sides = [race[name] for race in trace["races"] for name in ("earlier", "later")]
    places = source_places(program, sorted({access["code"] for access in sides}))
    seen = set()
    for race in trace["races"]:
        pair = frozenset(places[race[name]["code"]] for name in ("earlier", "later"))
        if (race["kernel"], pair) in seen:
            continue
        seen.add((race["kernel"], pair))
        yield (f"race in kernel {race['kernel']}: nothing orders these accesses to {race['memory']} "
               f"memory at {' and '.join(sorted(pair))}",
               side(race["earlier"], places) + "\n" + side(race["later"], places))
    for found in trace["barrier_divergences"]:
        where = [f"{place['threads']} thread(s) at {place['file']}:{place['line']}"
                 for place in found["places"]]
        yield (f"barrier divergence in kernel {found['kernel']}: threads of one block wait at different "
               "__syncthreads()", "  " + "\n  ".join(where))
