"""A front end with a screen for one of its people, whose role comes from a group.

Usage: frontend.py SOCKET: says `open`, and once the daemon was restarted and a line came what became of the
screen: `resumed` where it had to ask for it again, `followed` where its connection was kept. Another line ends it.
"""
import json
import socket
import sys


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(sys.argv[1])
    return connection.makefile("rwb", buffering=0), bytearray()


def send(stream, method, parameters, **flags):
    call = {"method": "org.atrium.Screens." + method, "parameters": parameters, **flags}
    stream[0].write(json.dumps(call).encode() + b"\0")


def receive(stream):
    """The next reply; None where the daemon hung up."""
    file, rest = stream
    while b"\0" not in rest:
        try:
            part = file.read(1 << 16)
        except ConnectionError:
            part = b""
        if not part:
            return None
        rest += part
    frame, _, left = bytes(rest).partition(b"\0")
    rest[:] = left
    return json.loads(frame)


def show(**more):
    stream = connect()
    send(stream, "Open", {"container": "films", "limit": 1, "actor": "web:ann", **more}, more=True)
    return stream, receive(stream)["parameters"]


stream, first = show()
print("open", flush=True)
sys.stdin.readline()
# On a connection of its own: it waits until the daemon is there again.
hand = connect()
send(hand, "Search", {"screen": first["screen"], "text": "alien"})
searched = receive(hand)
reply = receive(stream)
if reply is None:
    _, reply = show(resume={"screen": first["screen"], "revision": first["revision"]})
    print("resumed", reply["screen"] == first["screen"], "error" not in searched, reply.get("reset"), flush=True)
else:
    print("followed", "error" not in searched, reply.get("error"), flush=True)
sys.stdin.readline()
