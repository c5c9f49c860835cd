#!/usr/bin/env python3
"""Sessions of people, open loop: sessions.py URL FILE RATE SECONDS [SEED]

Sessions begin at random times, RATE a second, whatever became of those before. FILE has
sessions, each a line "session NAME WEIGHT" and its steps:

    GET /path            METHOD, path; {N} is a number from 1 to N, {a|b|c} one of these
    POST /path a=b&c=d   a form; a body that begins with { is JSON
    take NAME REGEXP     from the last answer; {NAME} stands for it afterwards, form-encoded
    header NAME: VALUE   of all requests that follow
    think 1.5            seconds

With xN in place of RATE it is a benchmark: N people at once, one session after another, who
do not think. The score is the requests a second.

Cookies are kept. Answers of 4xx and 5xx are failures. Ends with one line of JSON.
"""
import http.client
import http.cookies
import json
import random
import re
import sys
import threading
import time
import urllib.parse

url, file, seconds = sys.argv[1], sys.argv[2], float(sys.argv[4].rstrip("s"))
people = int(sys.argv[3][1:]) if sys.argv[3].startswith("x") else 0
rate = 0.0 if people else float(sys.argv[3])
rnd = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 7)
host = urllib.parse.urlsplit(url).netloc
lock, done, failed, times = threading.Lock(), 0, {}, []


def sessions():
    found = []
    for line in open(file):
        line = line.strip()
        if line.startswith("session "):
            found.append((float(line.split()[2]), []))
        elif line and not line.startswith("#"):
            found[-1][1].append(line)
    return found


def filled(text, taken, choose):
    def one(m):
        word = m.group(1)
        if word in taken:
            return urllib.parse.quote(taken[word], safe="-._~") if "quote" not in word else taken[word]
        if word.isdigit():
            return str(choose.randrange(int(word)) + 1)
        return choose.choice(word.split("|"))
    return re.sub(r"\{([A-Za-z0-9_|+-]+)\}", one, text)


def play(steps, seed):
    global done
    choose, taken, cookies, headers, last = random.Random(seed), {}, {}, {}, ""
    conn = http.client.HTTPConnection(host, timeout=30)
    for step in steps:
        word, _, rest = step.partition(" ")
        if word == "think":
            time.sleep(0 if people else float(rest) * choose.uniform(0.5, 1.5))
        elif word == "take":
            name, _, pattern = rest.partition(" ")
            m = re.search(pattern, last)
            taken[name] = m.group(1).replace("&amp;", "&") if m else ""
        elif word == "header":
            name, _, value = rest.partition(": ")
            headers[name] = re.sub(r"\{(\w+)\}", lambda m: taken.get(m.group(1), ""), value)
        else:
            path, _, body = rest.partition(" ")
            path = taken[path[1:-1]] if path[1:-1] in taken else filled(path, taken, choose)
            if path.startswith("http"):
                path = urllib.parse.urlunsplit(("", "") + tuple(urllib.parse.urlsplit(path))[2:])
            send = dict(headers)
            if cookies:
                send["Cookie"] = "; ".join(f"{k}={v}" for k, v in cookies.items())
            if body:
                send["Content-Type"] = "application/json" if body.startswith("{\"") else "application/x-www-form-urlencoded"
                body = filled(body, taken, choose)
            begun, status = time.monotonic(), 0
            try:
                conn.request(word, path or "/", body or None, send)
                answer = conn.getresponse()
                last, status = answer.read().decode("utf-8", "replace"), answer.status
                for value in answer.headers.get_all("Set-Cookie") or []:
                    for k, v in http.cookies.SimpleCookie(value).items():
                        cookies[k] = v.coded_value
            except (OSError, http.client.HTTPException) as e:
                conn.close()
                status = type(e).__name__
            with lock:
                times.append(time.monotonic() - begun)
                if isinstance(status, int) and status < 400:
                    done += 1
                else:
                    key = f"{word} {rest.split(' ')[0]} {status}"
                    failed[key] = failed.get(key, 0) + 1
    conn.close()


all_of = sessions()
weights = [w for w, _ in all_of]
begin, threads, due = time.monotonic(), [], 0.0


def benchmark(seed):
    choose = random.Random(seed)
    while time.monotonic() - begin < seconds:
        play(choose.choices(all_of, weights)[0][1], choose.random())


for _ in range(people):
    t = threading.Thread(target=benchmark, args=(rnd.random(),), daemon=True)
    t.start()
    threads.append(t)
while not people and (due := due + rnd.expovariate(rate)) < seconds:
    steps, seed = rnd.choices(all_of, weights)[0][1], rnd.random()
    time.sleep(max(0, begin + due - time.monotonic()))
    t = threading.Thread(target=play, args=(steps, seed), daemon=True)
    t.start()
    threads.append(t)
for t in threads:
    t.join(seconds + 30 if people else 30)
took = time.monotonic() - begin
times.sort()
p = lambda q: round(1000 * times[int(q * (len(times) - 1))], 1)  # noqa: E731
print(json.dumps({"pass": not failed, "score": round(done / took, 2) if people else done, "failed": failed, "p50_ms": p(0.5), "p95_ms": p(0.95), "p99_ms": p(0.99)}))
