#!/usr/bin/python3
"""A gateway from Atrium's screens to browsers. It needs Debian's python3-aiohttp.

    GET  /           the page, index.html
    GET  /live       a screen as server-sent events; each revision is one, its id SCREEN:REVISION
    POST /call/NAME  one of CALLS, with a JSON object; the reply, or {"error": …, "parameters": …}

Each browser acts for itself, as NAMESPACE:DIGEST of its cookie: actors are shown, cookies are secrets. So the
user that runs this is an admin, or has the role `frontend` for that namespace.
"""
import argparse, asyncio, contextlib, hashlib, json, os, pathlib, secrets, socket, stat, sys
from aiohttp import web

METHODS = {"Screens": "Select Deselect Clear Search Sort Resize Focus", "Votes": "Cast Retract", "Comments": "Post Delete"}
CALLS = {name: f"org.atrium.{interface}.{name}" for interface, names in METHODS.items() for name in names.split()}
STATUS = {"Forbidden": 403, "RoleRequired": 403, "ActorForbidden": 403, "LimitExceeded": 429, "StoreUnavailable": 503,
          "ComponentUnavailable": 503, "Unreachable": 503}
MOST_BYTES, MOST_REPLY_BYTES, MOST_STREAMS, HEARTBEAT, PATIENCE = 64 << 10, 64 << 20, 200, 15, 30
PAGE = pathlib.Path(__file__).with_name("index.html").read_text(encoding="utf-8")
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


class Refused(Exception):
    """A call that was not carried out: the error's name, and its parameters."""
    def __init__(self, error, parameters):
        self.name = error.rpartition(".")[2]
        self.body = {"error": self.name, "parameters": parameters if isinstance(parameters, dict) else {"reason": parameters}}
        self.status = STATUS.get(self.name, 404 if self.name.endswith("NotFound") else 400)


async def ask(method, parameters, **flags):
    """Gives each reply of atriumd: JSON over a Unix socket, NUL behind each. None: nothing came for a while."""
    try:
        reader, writer = await asyncio.open_unix_connection(options.socket, limit=MOST_REPLY_BYTES)
        writer.write(json.dumps({"method": method, "parameters": parameters, **flags}).encode() + b"\0")
        try:
            while True:
                try:
                    reply = json.loads((await asyncio.wait_for(reader.readuntil(b"\0"), HEARTBEAT))[:-1])
                except asyncio.TimeoutError:
                    yield None
                    continue
                if "error" in reply:
                    raise Refused(reply["error"], reply.get("parameters", {}))
                yield reply.get("parameters", {})
        finally:
            writer.close()
    except (OSError, asyncio.IncompleteReadError) as error:
        raise Refused("Unreachable", f"atriumd does not answer at {options.socket}: {error}") from error


async def answer(method, parameters):
    async with contextlib.aclosing(ask(method, parameters)) as replies:
        reply = await anext(replies)
    if reply is None:
        raise Refused("Unreachable", f"atriumd has not answered {method} for {HEARTBEAT} s")
    return reply


def actor(request):
    """Who the browser is; empty without a cookie of ours."""
    cookie = request.cookies.get("atrium", "")
    return f"{options.namespace}:{hashlib.sha256(cookie.encode()).hexdigest()[:24]}" if len(cookie) == 32 else ""


def read_object(text):
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Refused("BadCall", "a JSON object was expected")
    return value


@web.middleware
async def guard(request, handler):
    """Lets the gateway's own page ask, and nobody else's: neither from another origin, nor under another host's name."""
    try:
        origin = request.headers.get("Origin", None if request.method == "GET" else "")
        if request.host not in request.app["hosts"] or origin not in request.app["origins"] | {None}:
            raise Refused("Forbidden", "only the gateway's own page may ask; see --origin for other addresses")
        return await handler(request)
    except web.HTTPException as error:
        return web.json_response({"error": error.reason, "parameters": {"reason": error.text}}, status=error.status)
    except Refused as refused:
        return web.json_response(refused.body, status=refused.status, headers=HEADERS)


async def page(request):
    nonce = secrets.token_urlsafe(16)
    policy = (f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; "
              "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")
    response = web.Response(text=PAGE.replace("{nonce}", nonce), content_type="text/html",
                            headers={**HEADERS, "Content-Security-Policy": policy})
    if not actor(request):
        response.set_cookie("atrium", secrets.token_urlsafe(24), httponly=True, samesite="Strict", max_age=31536000)
    return response


async def call(request):
    name = request.match_info["name"]
    if name not in CALLS:
        raise Refused("NotFound", f"there is {', '.join(CALLS)}")
    if not actor(request) or request.content_type != "application/json":
        raise Refused("Forbidden", "a call brings the page's cookie, and is application/json")
    parameters = read_object(await request.read())
    if not CALLS[name].startswith("org.atrium.Screens."):
        parameters |= {"container": options.container, "actor": actor(request)}
    return web.json_response(await answer(CALLS[name], parameters), headers=HEADERS)


async def live(request):
    if request.app["streams"].locked():
        raise Refused("LimitExceeded", f"{MOST_STREAMS} screens are open, and no more are taken")
    async with request.app["streams"]:
        stream = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        await stream.prepare(request)

        async def event(name, value, mark=""):
            text = f"event: {name}\n{mark}data: {json.dumps(value)}\n\n"
            await asyncio.wait_for(stream.write(text.encode()), PATIENCE)
        # Until the browser is gone, or has not read for half a minute.
        with contextlib.suppress(ConnectionError, asyncio.TimeoutError):
            try:
                await follow(request, event)
            except Refused as refused:
                await event("refused", refused.body)
        return stream


async def follow(request, event):
    """Passes a screen on; one that the browser had open before is resumed."""
    wanted, about = read_object(request.query.get("open", "{}")), {"container": options.container}
    opening = about | {key: wanted[key] for key in ("filters", "search", "sort", "limit") if key in wanted}
    if actor(request):
        opening["actor"] = actor(request)
    screen, _, revision = (request.headers.get("Last-Event-ID") or request.query.get("resume", "")).rpartition(":")
    if screen and revision.isdecimal():
        opening["resume"] = {"screen": screen, "revision": int(revision)}
    known = await answer("org.atrium.Containers.Describe", about)
    await event("hello", {"actor": actor(request), "title": known["container"]["title"], "fields": known["fields"]})
    async with contextlib.aclosing(ask("org.atrium.Screens.Open", opening, more=True)) as replies:
        async for reply in replies:
            if reply is None:
                await event("alive", {})
            else:
                await event("revision", reply, f"id: {reply['screen']}:{reply['revision']}\n")


def default_socket():
    """Where atriumctl looks too."""
    places = [os.environ.get("XDG_RUNTIME_DIR", "") + "/atrium/atrium.sock", "/run/atrium/atrium.sock",
              f"/tmp/atrium-{os.getuid()}/atrium.sock"]
    told = os.environ.get("ATRIUM_SOCKET")
    place = told or next(filter(os.path.exists, places), places[1])
    if not told and place == places[2]:
        # Anyone makes folders in /tmp: the daemon in somebody else's is theirs.
        folder = os.lstat(os.path.dirname(place))
        if not stat.S_ISDIR(folder.st_mode) or folder.st_uid not in (0, os.getuid()) or folder.st_mode & 0o022:
            sys.exit(f"{os.path.dirname(place)} is not yours alone: name the daemon's socket with --socket or ATRIUM_SOCKET")
    return place


def arguments():
    parser = argparse.ArgumentParser(description="Shows a container of Atrium in browsers, live.")
    parser.add_argument("--container", default="films", help="which (default: %(default)s)")
    parser.add_argument("--socket", help="atriumd's (default: ATRIUM_SOCKET, or where it usually is)")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8080, help="0: any (default: %(default)s)")
    parser.add_argument("--namespace", default="web", help="of the browsers' actors (default: %(default)s)")
    parser.add_argument("--origin", action="append", default=[], metavar="URL",
                        help="another address of the page, such as https://films.example.org")
    told = parser.parse_args()
    told.socket = told.socket or default_socket()
    return told


if __name__ == "__main__":
    options = arguments()
    listener = socket.create_server((options.host, options.port))
    port = listener.getsockname()[1]
    gateway = web.Application(middlewares=[guard], client_max_size=MOST_BYTES)
    gateway["origins"] = {f"http://{host}:{port}" for host in ("127.0.0.1", "localhost", options.host)} | set(options.origin)
    gateway["hosts"] = {origin.partition("//")[2] for origin in gateway["origins"]}
    gateway["streams"] = asyncio.Semaphore(MOST_STREAMS)
    gateway.add_routes([web.get("/", page), web.get("/live", live), web.post("/call/{name:.*}", call)])
    print(f"{options.container}: http://{options.host}:{port}/ (Ctrl-C ends it)", flush=True)
    web.run_app(gateway, sock=listener, print=None, access_log=None, shutdown_timeout=1)
