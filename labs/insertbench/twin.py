"""The twin of insertbench: the same work in Python, by PyMySQL, which puts the values into
the statement and sends one text. Prints the result as the program in Go does."""
import argparse
import csv
import json
import os
import re
import sys
import time

import pymysql

ROUNDS = 10
ROWS = 10_000  # of a round
HEADER = "name,email,email_verified_at,password,remember_token,created_at,updated_at\n"
TABLE = """CREATE TABLE IF NOT EXISTS users (
  id                BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name              VARCHAR(255) NOT NULL,
  email             VARCHAR(255) NOT NULL,
  email_verified_at TIMESTAMP NULL,
  password          VARCHAR(255) NOT NULL,
  remember_token    VARCHAR(100) NULL,
  created_at        TIMESTAMP NULL,
  updated_at        TIMESTAMP NULL,
  UNIQUE KEY users_email (email)
)"""
INSERT = (
    "INSERT INTO users (name, email, email_verified_at, password, remember_token, created_at, updated_at) VALUES "
    "(%s, %s, %s, %s, %s, %s, %s)"
)


def connect():
    """Connects as KASOKU_LAB_DSN says, in the form of the driver of Go."""
    m = re.match(r"([^:@]*)(?::([^@]*))?@(tcp|unix)\(([^)]*)\)/([^?]*)", os.environ["KASOKU_LAB_DSN"])
    user, password, network, address, name = m.groups()
    where = {"unix_socket": address}
    if network == "tcp":
        host, port = address.rsplit(":", 1)
        where = {"host": host, "port": int(port)}
    return pymysql.connect(
        user=user, password=password or "", database=name, charset="utf8mb4", autocommit=True, **where
    )


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    return rows[1:]


def export(cursor, path):
    """Writes all rows in order, each by a call of its own."""
    cursor.execute("SELECT * FROM users ORDER BY id")
    with open(path, "wb", buffering=0) as f:
        f.write(HEADER.encode())
        for row in cursor.fetchall():
            f.write((",".join(str(cell) for cell in row[1:]) + "\n").encode())


def run_round(cursor, files, over):
    """Inserts, exports and compares. Where the time is over, it goes on with the rows that it has."""
    cursor.execute(TABLE)
    cursor.execute("TRUNCATE TABLE users")
    rows = read_rows(os.path.join(files, "import_users.csv"))
    done = 0
    for row in rows:
        if done > 0 and time.monotonic() > over:
            break
        cursor.execute(INSERT, row)
        done += 1
    export(cursor, os.path.join(files, "export_users.csv"))
    got = read_rows(os.path.join(files, "export_users.csv"))
    if done != len(got):
        sys.exit(f"{len(got)} rows were exported, want {done}")
    for i, (want, have) in enumerate(zip(rows, got)):
        if want != have:
            sys.exit(f"row {i + 1} was exported as {have}, want {want}")
    return done, done == len(rows)


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--files", required=True)
    flags.add_argument("--seconds", type=float, required=True)
    args = flags.parse_args()
    connection = connect()
    cursor = connection.cursor()
    begin = time.monotonic()
    over = begin + args.seconds
    rounds, rows, taken = 0, 0, 0.0
    while rounds < ROUNDS:
        n, whole = run_round(cursor, args.files, over)
        if whole or rounds == 0:
            rounds, rows, taken = rounds + 1, rows + n, time.monotonic() - begin
        if not whole or time.monotonic() >= over:
            break
    connection.close()
    score = rows / taken
    print(json.dumps({
        "pass": True, "score": score,
        "messages": [f"{ROWS / score:.3f} s a round of {ROWS} rows, from {rows} rows"],
        "seconds_per_round": ROWS / score, "rounds": rounds, "rows": rows,
    }))


main()
