"""A WSGI application whose statements carry their endpoint as a comment."""
import os
import subprocess
import threading
import time
import urllib.request

import pymysql

local = threading.local()


def connect():
    return pymysql.connect(
        host="127.0.0.1", port=int(os.environ["PORT"]), user=os.environ["USER_NAME"], password=os.environ["PASSWORD"], autocommit=True
    )


def query(sql):
    if not hasattr(local, "db"):
        local.db = connect()
    with local.db.cursor() as c:
        c.execute(sql)
        return c.fetchall()


def job():
    while True:
        query("/*job*/ SELECT 'a job' AS job")
        time.sleep(0.02)


threading.Thread(target=job, daemon=True).start()


def app(environ, start_response):
    tag = "/*%s %s*/ " % (environ["REQUEST_METHOD"], environ["PATH_INFO"])
    path = environ["PATH_INFO"]
    if path == "/one":
        query(tag + "SELECT 1 + 1")
    elif path == "/posts":
        query(tag + "SELECT 20 AS posts")
        for i in range(20):
            query(tag + "SELECT 'user', %d" % i)
    elif path == "/tx":
        query("BEGIN")
        query(tag + "SELECT 2")
        query("COMMIT")
    elif path == "/slow":
        query(tag + "SELECT 'slow', SLEEP(0.05)")
    elif path in ("/held", "/call"):  # another service is asked, with rows locked or without
        if path == "/held":
            query("BEGIN")
            query(tag + "SELECT 'held' FOR UPDATE")
        with urllib.request.urlopen(os.environ["OTHER"] + "/rates/17") as answer:
            answer.read()
        if path == "/held":
            query("COMMIT")
    elif path == "/start":
        subprocess.run(["/bin/sh", "-c", "true; /bin/true"], check=True)
    body = b"ok\n"
    start_response("200 OK", [("Content-Length", str(len(body)))])

    def answer():
        yield body
        if path == "/late":
            query(tag + "SELECT 'after the answer'")

    return answer()
