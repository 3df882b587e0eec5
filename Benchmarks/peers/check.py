"""Whether the client notices when a server loses, doubles, swaps or cuts one delivery."""
import json
import socketserver
import subprocess
import sys
import threading

from figures import say
from processes import LAB, new_socket

FAULTS = ["none", "lost", "doubled", "swapped", "cut"]
FAULTY = 200


def redis_delivery(texts):
    return b"".join(b"*3\r\n$7\r\nmessage\r\n$3\r\nbus\r\n$%d\r\n%s\r\n" % (len(text), text)
                    for text in texts)


def atrium_delivery(texts):
    """All of them in one reply."""
    notifications = [{"topic": "bench.app.bus", "payload": {"data": text.decode()}}
                     for text in texts]
    return atrium_reply(notifications=notifications, sequence=1, live=True, continues=True)


def atrium_reply(continues=False, **parameters):
    reply = {"parameters": parameters, **({"continues": True} if continues else {})}
    return json.dumps(reply, separators=(",", ":")).encode() + b"\0"


class Bus(socketserver.ThreadingUnixStreamServer):
    """Passes on what is published; to the first subscriber once with a fault, in two that come together."""
    daemon_threads = True

    def __init__(self, path, fault, deliver):
        self.fault = fault
        self.deliver = deliver
        self.subscribers = []
        self.waiting = []
        self.count = 0
        super().__init__(path, RedisPeer if deliver is redis_delivery else AtriumPeer)

    def handle_error(self, request, client_address):
        """A client that has noticed goes away in the middle of everything."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def publish(self, text):
        self.waiting.append(text)
        self.count += 1
        # No other waits for the next: of an odd number the last would never come.
        if self.count == FAULTY - 1:
            return
        for place, subscriber in enumerate(self.subscribers):
            faulty = place == 0 and self.count == FAULTY
            texts = self.spoil(self.waiting) if faulty else self.waiting
            subscriber.sendall(self.deliver(texts))
        self.waiting = []

    def spoil(self, texts):
        first, second = texts
        return {"none": texts, "lost": [first], "doubled": [first, second, second],
                "swapped": [second, first], "cut": [first, second[:-1]]}[self.fault]


class RedisPeer(socketserver.StreamRequestHandler):
    """One connection that speaks RESP."""

    def handle(self):
        while head := self.rfile.readline():
            words = [self.word() for _ in range(int(head[1:]))]
            if words[0] == b"SUBSCRIBE":
                # Before it is confirmed: from then on the client publishes, and counts what comes.
                self.server.subscribers.append(self.request)
                self.wfile.write(b"*3\r\n$9\r\nsubscribe\r\n$3\r\nbus\r\n:1\r\n")
            else:
                self.wfile.write(b":1\r\n")
                self.server.publish(words[2])

    def word(self):
        text = self.rfile.read(int(self.rfile.readline()[1:]))
        self.rfile.readline()
        return text


class AtriumPeer(socketserver.BaseRequestHandler):
    """One connection that speaks Varlink."""

    def handle(self):
        rest = b""
        while more := self.request.recv(65536):
            *calls, rest = (rest + more).split(b"\0")
            for call in calls:
                self.answer(json.loads(call))

    def answer(self, call):
        if call["method"].endswith("Subscribe"):
            self.server.subscribers.append(self.request)
            self.request.sendall(atrium_delivery([]))
        else:
            self.request.sendall(atrium_reply(sequence=None))
            self.server.publish(call["parameters"]["payload"]["data"].encode())


def status_with(fault, protocol, deliver):
    path = new_socket("faulty")
    with Bus(path, fault, deliver) as bus:
        threading.Thread(target=bus.serve_forever, daemon=True).start()
        done = subprocess.run(
            [str(LAB / "peerbench"), "flow", "--protocol", protocol, "--address", "unix:" + path,
             "--subscribers", "3", "--window", "64", "--seconds", "0.3"],
            capture_output=True, text=True, timeout=30)
        bus.shutdown()
        return done.returncode


def run(_rounds):
    """Ends everything where a fault passes, or a faultless run does not."""
    for protocol, deliver in (("redis", redis_delivery), ("atrium", atrium_delivery)):
        for fault in FAULTS:
            status = status_with(fault, protocol, deliver)
            noticed = status != 0
            if noticed != (fault != "none"):
                raise SystemExit(f"check: {protocol} with {fault} delivery: exit status {status}")
            say(f"  {protocol}, {fault}: exit status {status}")
    return []
