#!/usr/bin/env python3
"""A gateway from Atrium's screens to browsers, with Python's standard library alone.

    GET  /           the page, index.html
    GET  /live       a screen as server-sent events; each revision is one, its id SCREEN:REVISION
    POST /call/NAME  one of CALLS, with a JSON object; the reply, or {"error": …, "parameters": …}

Each browser acts for itself, as NAMESPACE:DIGEST of its cookie: actors are shown, cookies are secrets. So the
user that runs this is an admin, or has the role `frontend` for that namespace.
"""
import argparse
import hashlib
import http.cookies
import http.server
import json
import os
import pathlib
import secrets
import select
import socket
import threading
from urllib.parse import parse_qsl, urlsplit

METHODS = {"Screens": "Select Deselect Clear Search Sort Resize Focus", "Votes": "Cast Retract", "Comments": "Post Delete"}
CALLS = {name: f"org.atrium.{interface}.{name}" for interface, names in METHODS.items() for name in names.split()}
STATUS = {"Forbidden": 403, "RoleRequired": 403, "ActorForbidden": 403, "NotFound": 404, "TooLarge": 413,
          "LimitExceeded": 429, "StoreUnavailable": 503, "ComponentUnavailable": 503, "Unreachable": 503}
MOST_BYTES, MOST_STREAMS, HEARTBEAT = 64 << 10, 200, 15
PAGE = pathlib.Path(__file__).with_name("index.html").read_bytes()


class Refused(Exception):
    """A call that was not carried out: the error's name, and its parameters."""

    def __init__(self, error, parameters):
        name = error.rpartition(".")[2]
        self.status = 404 if name.endswith("NotFound") else STATUS.get(name, 400)
        self.body = {"error": name, "parameters": parameters if isinstance(parameters, dict) else {"reason": parameters}}


class Daemon(socket.socket):
    """A connection to atriumd. Varlink is JSON over a Unix socket, with a NUL behind each message."""

    def __init__(self, path):
        super().__init__(socket.AF_UNIX)
        self.settimeout(30)
        self.path, self.received = path, b""
        try:
            self.connect(path)
        except OSError as error:
            raise self.away(error) from error

    def ask(self, method, parameters, **flags):
        self.sendall(json.dumps({"method": method, "parameters": parameters, **flags}).encode() + b"\0")

    def reply(self, wait=lambda: None):
        while b"\0" not in self.received:
            wait()
            try:
                data = self.recv(1 << 16)
            except OSError as error:
                raise self.away(error) from error
            if not data:
                raise self.away("it ended the connection")
            self.received += data
        message, _, self.received = self.received.partition(b"\0")
        reply = json.loads(message)
        if "error" in reply:
            raise Refused(reply["error"], reply.get("parameters", {}))
        return reply.get("parameters", {})

    def away(self, reason):
        return Refused("Unreachable", f"atriumd does not answer at {self.path}: {reason}")


class Browser(http.server.BaseHTTPRequestHandler):
    """One connection of a browser, on a thread of its own."""

    protocol_version, server_version, timeout = "HTTP/1.1", "atrium-web", 30

    def do_GET(self):
        self.serve({"/": self.page, "/live": self.live})

    def do_POST(self):
        self.serve({f"/call/{name}": self.call for name in CALLS})

    def serve(self, routes):
        try:
            # Another's page can neither leave the origin of a POST out, nor, with a name of its own for this address,
            # hide it from the host.
            origin = self.headers.get("Origin", None if self.command == "GET" else "")
            if self.headers.get("Host") not in self.server.hosts or origin not in self.server.origins | {None}:
                raise Refused("Forbidden", "only the gateway's own page may ask; see --origin for other addresses")
            if urlsplit(self.path).path not in routes:
                raise Refused("NotFound", f"there is {', '.join(routes)}")
            routes[urlsplit(self.path).path]()
        except Refused as refused:
            self.close_connection = True  # What the browser may still send is not read.
            self.respond(refused.status, "application/json", json.dumps(refused.body).encode())
        except OSError:
            self.close_connection = True  # The browser is gone, or has not read for half a minute.

    def page(self):
        nonce = secrets.token_urlsafe(16)
        headers = {"Content-Security-Policy": f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
                   "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                   "require-trusted-types-for 'script'"}
        if not self.actor():
            cookie = f"atrium={secrets.token_urlsafe(24)}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000"
            headers["Set-Cookie"] = cookie
        self.respond(200, "text/html; charset=utf-8", PAGE.replace(b"{nonce}", nonce.encode()), **headers)

    def call(self):
        name, length = self.path.rpartition("/")[2], self.headers.get("Content-Length", "")
        if not self.actor() or self.headers.get_content_type() != "application/json":
            raise Refused("Forbidden", "a call brings the page's cookie, and is application/json")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            raise Refused("TooLarge", f"a call says how long it is: {MOST_BYTES} bytes at most")
        parameters = read_object(self.rfile.read(int(length)))
        if not CALLS[name].startswith("org.atrium.Screens."):
            parameters |= {"container": self.server.options.container, "actor": self.actor()}
        with Daemon(self.server.options.socket) as daemon:
            daemon.ask(CALLS[name], parameters)
            self.respond(200, "application/json", json.dumps(daemon.reply()).encode())

    def live(self):
        if not self.server.streams.acquire(blocking=False):
            raise Refused("LimitExceeded", f"{MOST_STREAMS} screens are open, and no more are taken")
        try:
            self.respond(200, "text/event-stream", Connection="close")
            self.follow(dict(parse_qsl(urlsplit(self.path).query)))
        except Refused as refused:
            self.event("refused", refused.body)
        finally:
            self.server.streams.release()

    def follow(self, query):
        """Passes a screen on; one that the browser had open before is resumed."""
        container, actor = {"container": self.server.options.container}, self.actor()
        wanted = read_object(query.get("open", "{}"))
        opening = container | {key: wanted[key] for key in ("filters", "search", "sort", "limit") if key in wanted}
        if actor:
            opening["actor"] = actor
        screen, _, revision = (self.headers.get("Last-Event-ID") or query.get("resume", "")).rpartition(":")
        if screen and revision.isdecimal():
            opening["resume"] = {"screen": screen, "revision": int(revision)}
        with Daemon(self.server.options.socket) as daemon:
            daemon.ask("org.atrium.Containers.Describe", container)
            about = daemon.reply()
            self.event("hello", {"actor": actor, "title": about["container"]["title"], "fields": about["fields"]})
            daemon.ask("org.atrium.Screens.Open", opening, more=True)
            while True:
                reply = daemon.reply(lambda: self.wait(daemon))
                self.event("revision", reply, f"id: {reply['screen']}:{reply['revision']}\n")

    def wait(self, daemon):
        """Waits for the daemon; notices when the browser is gone, and tells it now and then that we are not."""
        while not (ready := select.select([daemon, self.connection], [], [], HEARTBEAT)[0]):
            self.event("alive", {})
        if self.connection in ready:
            raise ConnectionError("the browser hung up")

    def event(self, name, value, mark=""):
        self.wfile.write(f"event: {name}\n{mark}data: {json.dumps(value)}\n\n".encode())

    def actor(self):
        """Who the browser is; empty without a cookie of ours."""
        cookies = dict(cookie.strip().partition("=")[::2] for cookie in self.headers.get("Cookie", "").split(";"))
        cookie = cookies.get("atrium", "")
        digest = hashlib.sha256(cookie.encode()).hexdigest()[:24]
        return f"{self.server.options.namespace}:{digest}" if len(cookie) == 32 else ""

    def respond(self, status, kind, body=None, **headers):
        length = {} if body is None else {"Content-Length": str(len(body))}
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
                            "Referrer-Policy": "no-referrer", **length, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        """Says nothing: what happens is to be seen with `atriumctl watch`."""


def read_object(text):
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Refused("BadCall", "a JSON object was expected")
    return value


def default_socket():
    """Where atriumctl looks too."""
    places = [os.environ.get("XDG_RUNTIME_DIR", "") + "/atrium/atrium.sock", "/run/atrium/atrium.sock",
              f"/tmp/atrium-{os.getuid()}/atrium.sock"]
    return os.environ.get("ATRIUM_SOCKET") or next(filter(os.path.exists, places), places[1])


def main():
    parser = argparse.ArgumentParser(description="Shows a container of Atrium in browsers, live.")
    parser.add_argument("--container", default="films", help="which (default: %(default)s)")
    parser.add_argument("--socket", default=default_socket(), help="atriumd's (default: %(default)s)")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8080, help="0: any (default: %(default)s)")
    parser.add_argument("--namespace", default="web", help="of the browsers' actors (default: %(default)s)")
    parser.add_argument("--origin", action="append", default=[], metavar="URL",
                        help="another address of the page, such as https://films.example.org")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer((options.host, options.port), Browser)
    server.options, server.streams = options, threading.BoundedSemaphore(MOST_STREAMS)
    server.origins = {f"http://{host}:{server.server_port}" for host in ("127.0.0.1", "localhost", options.host)}
    server.origins |= set(options.origin)
    server.hosts = {urlsplit(origin).netloc for origin in server.origins}
    print(f"{options.container}: http://{options.host}:{server.server_port}/ (Ctrl-C ends it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
