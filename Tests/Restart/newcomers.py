"""Clients that come and go while a daemon is restarted: each call wants one answer, nobody tries again.

Usage: newcomers.py SOCKET FILE CALL: goes on as long as FILE is there, then prints `answered N failed N why`.

Each kind of client calls on its own way: on a new connection; saying that it sends no more; several calls
at once; a call in two halves; all calls on one connection.
"""

import collections
import json
import os
import socket
import sys
import threading
import time

SOCKET, GOING = sys.argv[1], sys.argv[2]
CALL = json.dumps(json.loads(sys.argv[3])).encode() + b"\0"
answered, failed = collections.Counter(), collections.Counter()


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(SOCKET)
    return connection


def receive(connection, replies):
    received = b""
    while received.count(b"\0") < replies:
        part = connection.recv(1 << 16)
        if not part:
            raise EOFError(f"{received.count(bytes(1))} of {replies} replies")
        received += part
    if b'"error"' in received:
        raise ValueError(received[:200])


def plain(connection):
    connection.sendall(CALL)
    receive(connection, 1)


def ended(connection):
    connection.sendall(CALL)
    connection.shutdown(socket.SHUT_WR)
    receive(connection, 1)


def several(connection):
    connection.sendall(CALL * 5)
    receive(connection, 5)


def halves(connection):
    connection.sendall(CALL[:20])
    time.sleep(0.001)
    connection.sendall(CALL[20:])
    receive(connection, 1)


def come_and_go(kind):
    while os.path.exists(GOING):
        try:
            with connect() as connection:
                kind(connection)
            answered[kind.__name__] += 1
        except (OSError, EOFError, ValueError) as error:
            failed[f"{kind.__name__}: {error!r}"] += 1
            time.sleep(0.01)


def stay():
    connection = connect()
    while os.path.exists(GOING):
        try:
            plain(connection)
            answered["stay"] += 1
        except (OSError, EOFError, ValueError) as error:
            failed[f"stay: {error!r}"] += 1
            time.sleep(0.01)
            connection = connect()


threads = [threading.Thread(target=come_and_go, args=(kind,)) for kind in (plain, ended, several, halves)]
threads += [threading.Thread(target=stay) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
least = min(answered[kind] for kind in ("plain", "ended", "several", "halves", "stay"))
print(f"answered {sum(answered.values())} least {least} failed {sum(failed.values())} {dict(failed)}")
