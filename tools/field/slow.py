#!/usr/bin/env python3
"""What a slow log of all statements says, without kasoku: slow.py SLOWLOG [SECONDS]

Classes by their text with values taken out, by total time; SECONDS of all requests makes
shares of it.
"""
import re
import sys

classes, total = {}, 0.0
of = float(sys.argv[2]) if len(sys.argv) > 2 else 0


def flush(text, t, sent, examined):
    global total
    text = re.sub(r"^(use \w+;|SET timestamp=\d+;)\s*", "", text.strip())
    text = re.sub(r"^(use \w+;|SET timestamp=\d+;)\s*", "", text)
    if not text or text.startswith("#"):
        return
    shape = re.sub(r"/\*.*?\*/", "", text)
    shape = re.sub(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|\b0x[0-9A-Fa-f]+\b|\b\d+(?:\.\d+)?\b", "?", shape)
    shape = re.sub(r"\(\s*\?(?:\s*,\s*\?)+\s*\)", "(?+)", re.sub(r"\s+", " ", shape))
    c = classes.setdefault(shape, [0, 0.0, 0, 0, text])
    c[0] += 1
    c[1] += t
    c[2] += sent
    c[3] += examined
    total += t


text, t, sent, examined = "", 0.0, 0, 0
for line in open(sys.argv[1], errors="replace"):
    if line.startswith("# "):
        if text:
            flush(text, t, sent, examined)
            text = ""
        m = re.search(r"Query_time: ([\d.]+).*Rows_sent: (\d+)\s+Rows_examined: (\d+)", line)
        if m:
            t, sent, examined = float(m[1]), int(m[2]), int(m[3])
    elif not re.match(r"(Tcp port|Time  |.*Version: )", line):
        text += line
if text:
    flush(text, t, sent, examined)
print(f"{total:.2f} s in {sum(c[0] for c in classes.values())} statements of {len(classes)} classes")
for shape, (n, t, sent, examined, one) in sorted(classes.items(), key=lambda x: -x[1][1])[:25]:
    share = f"{100 * t / of:5.1f} %" if of else f"{100 * t / total:5.1f} %"
    print(f"{share} {t:8.3f} s {n:6d} × {1000 * t / n:7.2f} ms  sent {sent / n:7.1f} read {examined / n:9.1f}  {shape[:260]}")
