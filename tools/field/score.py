#!/usr/bin/env python3
"""Holds what kasoku says of a run against what is true: score.py truth/APP.md REPORT.json…

REPORT.json is `kasoku show -o json RUN`. Prints one line a report as docs/field.md has it,
then what is not judged yet: a finding without a line in the table of statements. Exit code
1 when a statement is false, harmful or not judged, or a defect of 5 % is not in the first five.
"""
import json
import re
import sys


def table(text, title):
    """The rows of the first table after a heading, as lists of cells."""
    part = text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    rows = [[c.strip() for c in line.strip().strip("|").split(" | ")] for line in part.splitlines() if line.startswith("|")]
    return rows[2:]


def named(finding):
    o = finding["object"]
    return f'{o.get("kind", "")} {o.get("name", "")}'.strip() if isinstance(o, dict) else str(o)


truth, bad = open(sys.argv[1]).read(), 0
defects, judged = table(truth, "Defects"), table(truth, "Statements")
for path in sys.argv[2:]:
    report = json.load(open(path))
    findings = report["findings"]
    five = findings[:5]
    found, missing = [], []
    for share, ids, pattern, what in defects:
        if float(share) < 5:
            continue
        rank = [i + 1 for i, f in enumerate(findings) if f["id"] in ids.split() and re.search(pattern, named(f))]
        (found if rank and rank[0] <= len(five) else missing).append(f"{ids.split()[0]} {what}" + (f" ({rank[0]})" if rank else ""))
    count, unjudged = {"true": 0, "trivial": 0, "false": 0, "harmful": 0}, []
    for f in findings:
        for verdict, ids, pattern, *_ in judged:
            if f["id"] in ids.split() and re.search(pattern, named(f) + ": " + f["title"]):
                count[verdict] += 1
                break
        else:
            unjudged.append(f)
    big = len(found) + len(missing)
    print(f"| {path.split('/')[-1].removesuffix('.json')} | {len(found)} of {big} | " + " | ".join(str(n) for n in count.values()) + " |")
    for m in missing:
        print(f"    missing: {m}")
    for f in unjudged:
        print(f"    not judged: {f['id']} {named(f)}: {f['title']}")
    bad |= bool(missing or unjudged or count["false"] or count["harmful"])
sys.exit(bad)
