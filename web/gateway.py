"""A gateway from Atrium's screens to browsers. It needs Debian's python3-aiohttp, and python3-markdown-it for markdown.

    GET  /                        the containers; with one alone, the way to it
    GET  /CONTAINER[/ITEM]        the page; with the status 404 where there is none
    GET  /-/page/FILE             its scripts and styles
    GET  /-/containers            what the first page lists
    GET  /-/live                  a screen as server-sent events; each revision is one, its id SCREEN:REVISION
    GET  /-/image/C/COMPONENT/ITEM/FIELD   a picture that the daemon keeps
    POST /-/call/NAME             one of CALLS, with a JSON object; the reply, or {"error": …, "parameters": …}
    POST /-/prose                 {"text": …}: markdown as a tree, see prose.py

Each person acts for themselves, as an actor of --namespace (see visitors.py). So the user that runs this is
an admin, or has the role `frontend` for that namespace.
"""
import argparse, asyncio, base64, collections, concurrent.futures, contextlib, errno, json, os, pathlib, pwd, socket, sys
from urllib.parse import quote, urlsplit
from aiohttp import web
import prose
from daemon import Daemon, Refused, default_socket, settings_of
from visitors import MOST_KNOWN, Visitors, read_key

METHODS = {"Screens": "Select Deselect Clear Search Sort Resize Focus SetScope Enter Back SetHidden Activate",
           "Votes": "Cast Retract", "Comments": "Post Edit Delete Thread", "Contents": "Get List", "Filters": ""}
CALLS = {name: f"org.atrium.{interface}.{name}" for interface, names in METHODS.items() for name in names.split()}
CALLS |= {"Find": "org.atrium.Filters.List", "Pending": "org.atrium.Comments.Pending", "Moderate": "org.atrium.Comments.Moderate"}
# Those that the gateway makes as itself, for those alone whom --moderator names.
MODERATION = {"Pending", "Moderate"}
# What the page says in calls beside its screens: the gateway passes nothing else on.
PAGES = {"List": {"container", "component", "scope", "parent", "filters", "search", "sort", "limit", "cursor"},
         "Thread": {"container", "component", "item", "limit", "cursor"},
         "Find": {"container", "section", "text", "filters", "scope"}}
MOST_BYTES, PATIENCE = 64 << 10, 30
MOST_TEXTS = 100  # of a person that wait to be read as markdown; as many as calls of one are taken at once
HOME = pathlib.Path(__file__).parent / "page"
FILES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


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
        origin = request.headers.get("Origin", None if request.method in ("GET", "HEAD") else "")
        if request.host not in request.app["hosts"] or origin not in request.app["origins"] | {None}:
            raise Refused("Forbidden", "only the gateway's own page may ask; see --origin for other addresses")
        return await handler(request)
    except web.HTTPRedirection:
        raise
    except web.HTTPException as error:
        return web.json_response({"error": error.reason, "parameters": {"reason": error.text}}, status=error.status)
    except Refused as refused:
        return web.json_response(refused.body, status=refused.status, headers=HEADERS)


class Reading:
    """Reads markdown on a thread of its own: one text of a person at a time, so that nobody's texts keep others' waiting."""

    def __init__(self):
        self.thread = concurrent.futures.ThreadPoolExecutor(1, "prose")
        self.lines, self.waiting = {}, collections.Counter()

    async def read(self, actor, text):
        if self.waiting[actor] >= MOST_TEXTS:
            raise Refused("LimitExceeded", {"reason": f"{MOST_TEXTS} texts of yours wait to be read", "retryAfter": 1.0})
        self.waiting[actor] += 1
        try:
            async with self.lines.setdefault(actor, asyncio.Lock()):
                return await asyncio.get_running_loop().run_in_executor(self.thread, prose.encoded, text)
        finally:
            self.waiting[actor] -= 1
            if not self.waiting[actor]:
                del self.waiting[actor], self.lines[actor]

    async def end(self, _):
        self.thread.shutdown(wait=False, cancel_futures=True)


class Gateway:
    def __init__(self, options):
        self.options, self.daemon, self.reading = options, Daemon(options.socket), Reading()
        self.served = set(options.container)
        self.actors = collections.OrderedDict()  # Of screens, by their ids: to the daemon all screens are ours.
        self.visitors = Visitors(options.namespace, read_key(options.state), options.proxy, options.user_header)
        self.files = {path.name: (path.read_bytes(), FILES[path.suffix]) for path in HOME.iterdir() if path.suffix in FILES}
        self.policy = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                       f"img-src {' '.join([chr(39) + 'self' + chr(39), 'data:', *options.image_origin])}; "
                       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                       "trusted-types 'none'")

    def serves(self, container):
        """Refuses a container that is not shown here."""
        if not isinstance(container, str) or (self.served and container not in self.served):
            raise Refused("ContainerNotFound", {"container": container})
        return container

    async def describe(self, container):
        """What the daemon says of a container; what is shown as a part of it may be asked about, too."""
        known = await self.daemon.answer("org.atrium.Containers.Describe", {"container": self.serves(container)})
        if self.served:
            self.served |= {part["container"] for part in known["container"]["components"] if part.get("container")}
        return known

    def keep(self, screen, actor):
        """Remembers whose a screen is, and forgets the ones that were used longest ago."""
        self.actors[screen] = actor
        self.actors.move_to_end(screen)
        if len(self.actors) > MOST_KNOWN:
            self.actors.popitem(last=False)

    def check_screen(self, screen, actor):
        """Refuses a screen that is somebody else's; of one that is unknown nobody learns more than that."""
        if not isinstance(screen, str):
            raise Refused("BadCall", "screen: a string was expected")
        if self.actors.get(screen) != actor:
            raise Refused("ScreenNotFound", {"screen": screen})
        self.keep(screen, actor)

    # MARK: The page

    async def front(self, request):
        if len(self.options.container) == 1:
            raise web.HTTPFound("/" + quote(self.options.container[0], safe=""))
        return self.page(request)

    async def shown(self, request):
        return self.page(request, 404 if await self.is_missing(**request.match_info, request=request) else 200)

    async def is_missing(self, request, container, item=None):
        """Whether the daemon says that there is no such container or item. Of other trouble the page itself tells."""
        try:
            self.visitors.count_call(request)
            parts = (await self.describe(container))["container"]["components"]
        except Refused as refused:
            return refused.name == "ContainerNotFound"
        lists = [part["name"] for part in parts if item is not None and part["kind"] == "contents"]
        return bool(lists) and all([await self.lacks(container, name, item) for name in lists])

    async def lacks(self, container, component, item):
        try:
            await self.daemon.answer("org.atrium.Contents.Get", {"container": container, "component": component, "item": item})
        except Refused as refused:
            return refused.name == "ItemNotFound"
        return False

    def page(self, request, status=200):
        headers = {**HEADERS, "Content-Security-Policy": self.policy}
        response = web.Response(status=status, body=self.files["index.html"][0], content_type="text/html", charset="utf-8",
                                headers=headers)
        secure = f"https://{request.host}" in request.app["origins"]
        if request.method == "GET":
            self.visitors.greet(request, response, secure)
        return response

    async def file(self, request):
        body, kind = self.files.get(request.match_info["name"], (None, None))
        if body is None:
            raise Refused("NotFound", "there is no such file")
        return web.Response(body=body, content_type=kind, charset="utf-8", headers={**HEADERS, "Cache-Control": "no-cache"})

    async def containers(self, request):
        self.visitors.count_call(request)
        known = (await self.daemon.answer("org.atrium.Containers.List", {}))["containers"]
        chosen = [one for one in known if not self.options.container or one["name"] in self.options.container]
        return web.json_response({"containers": [{"name": one["name"], "title": one["title"], "items": one["items"]}
                                                 for one in chosen]}, headers=HEADERS)

    async def image(self, request):
        self.visitors.count_call(request)
        part = request.match_info
        self.serves(part["container"])
        asked = {name: part[name] for name in ("container", "component", "item", "field")}
        picture = await self.daemon.answer("org.atrium.Contents.Image", asked)
        if not picture["type"].startswith("image/") or "svg" in picture["type"]:
            raise Refused("NotFound", "this is no picture")
        return web.Response(body=base64.b64decode(picture["data"]), content_type=picture["type"], headers={
            **HEADERS, "Cache-Control": "private, max-age=60", "Content-Security-Policy": "default-src 'none'; sandbox"})

    # MARK: Calls

    async def body(self, request):
        if not self.visitors.actor(request):
            raise Refused("Forbidden", "a call brings the page's cookie: reload the page. An address gets 20 new ones an hour")
        if request.content_type != "application/json":
            raise Refused("Forbidden", "a call is application/json")
        self.visitors.count_call(request)
        return read_object(await request.read())

    async def call(self, request):
        name = request.match_info["name"]
        if name not in CALLS:
            raise Refused("NotFound", f"there is {', '.join(CALLS)}")
        parameters = await self.body(request)
        if name in MODERATION and not self.moderates(request):
            raise Refused("Forbidden", "you are no moderator here; see --moderator")
        if CALLS[name].startswith("org.atrium.Screens."):
            self.check_screen(parameters.get("screen"), self.visitors.actor(request))
        else:
            if "container" not in parameters and len(self.options.container) == 1:
                parameters["container"] = self.options.container[0]
            self.serves(parameters.get("container"))
            parameters.pop("actor", None)
            if name in PAGES:
                parameters = {key: value for key, value in parameters.items() if key in PAGES[name]}
            if name not in MODERATION:
                parameters["actor"] = self.visitors.actor(request)
        return web.Response(body=await self.daemon.text(CALLS[name], parameters), content_type="application/json",
                            charset="utf-8", headers=HEADERS)

    def moderates(self, request):
        return self.visitors.actor(request).removeprefix(f"{self.options.namespace}:") in self.options.moderator

    async def prose(self, request):
        text = (await self.body(request)).get("text")
        if not isinstance(text, str):
            raise Refused("BadCall", "text: a string was expected")
        found = await self.reading.read(self.visitors.actor(request), text)
        return web.json_response(text=found, headers=HEADERS)

    # MARK: Live

    async def live(self, request):
        self.visitors.count_call(request)
        with self.visitors.stream(request):
            stream = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no"})

            async def event(name, value, mark=""):
                text = f"event: {name}\n{mark}data: {json.dumps(value)}\n\n"
                await asyncio.wait_for(stream.write(text.encode()), PATIENCE)
            # Until the browser is gone, or has not read for half a minute.
            with contextlib.suppress(ConnectionError, asyncio.TimeoutError):
                await stream.prepare(request)
                try:
                    await self.follow(request, event)
                except Refused as refused:
                    await event("refused", refused.body)
            return stream

    async def follow(self, request, event):
        """Passes a screen on; one that the browser had open before is resumed."""
        container = request.query.get("container") or next(iter(self.options.container), "")
        wanted, about = read_object(request.query.get("open", "{}")), {"container": self.serves(container)}
        opening = about | {key: wanted[key] for key in ("scope", "filters", "search", "sort", "limit") if key in wanted}
        actor = self.visitors.actor(request)
        # Without one the daemon would show what the gateway's own user may see.
        opening["actor"] = actor or self.visitors.nobody
        screen, _, revision = (request.headers.get("Last-Event-ID") or request.query.get("resume", "")).rpartition(":")
        if screen and revision.isdecimal():
            opening["resume"] = {"screen": screen, "revision": int(revision)}
        known = await self.describe(container)
        about = known["container"]
        usual = usual_sort(known)
        opening.setdefault("sort", usual)
        await event("hello", {"actor": actor, "title": about["title"], "fields": known["fields"], "sort": usual, "chooses": choosing(known),
                              "moderates": self.moderates(request), "isAlone": len(self.options.container) == 1,
                              "follows": {part["name"]: part["follow"] for part in about["components"] if part.get("follow")},
                              "enters": [scope["name"] for scope in about.get("scopes") or [] if scope.get("entered")]
                              + ([""] if about.get("entered") else [])})
        async with contextlib.aclosing(self.daemon.ask("org.atrium.Screens.Open", opening, more=True)) as replies:
            shown = None
            async for reply in replies:
                if reply is not None:
                    shown = reply["screen"]
                if shown is not None:
                    self.keep(shown, opening["actor"])
                if reply is None:
                    await event("alive", {})
                else:
                    await event("revision", reply, f"id: {reply['screen']}:{reply['revision']}\n")

    # MARK: The start

    async def check(self):
        """Whether it can do its work; else ends with what to change, and how."""
        user = pwd.getpwuid(os.getuid()).pw_name
        try:
            known = {one["name"] for one in (await self.daemon.answer("org.atrium.Containers.List", {}))["containers"]}
        except Refused as refused:
            reason = refused.body["parameters"].get("reason", "")
            hint = (f"its group may talk to it: sudo usermod -aG atrium {user}" if "Errno 13" in reason
                    else "start it, or name its socket with --socket")
            sys.exit(f"{reason or refused.name}\n{hint}")
        for name in self.options.container:
            if name not in known:
                sys.exit(f"there is no container {name!r}; there are: {', '.join(sorted(known)) or 'none'}\n"
                         f"make it with: atriumctl apply -f {name}.yaml")
        # The daemon looks at roles first: where there is no container yet, any name does.
        name, lacks = next(iter(self.options.container), min(known, default="none")), []
        if await self.is_denied("org.atrium.Contents.List", {"container": name, "limit": 1, "actor": f"{self.options.namespace}:check"}):
            lacks.append((f"{user} may not act for people: every page would only be read", f"frontends: [{user}={self.options.namespace}]"))
        if self.options.moderator and await self.is_denied("org.atrium.Comments.Pending", {"container": name, "limit": 1}):
            lacks.append((f"{user} is no moderator, so whom --moderator names could not moderate", f"moderators: [{user}]"))
        if lacks:
            reasons, lines = zip(*lacks)
            file, reload = settings_of(self.options.socket)
            sys.exit("\n".join([*reasons, f"add {'this line' if len(lines) == 1 else 'these lines'} to {file}, and type '{reload}':", *lines]))

    async def is_denied(self, method, parameters):
        """Whether the daemon refuses a call because of who this is."""
        try:
            await self.daemon.answer(method, parameters)
        except Refused as refused:
            return refused.name in ("ActorForbidden", "RoleRequired")
        return False


def choosing(known):
    """The scopes in which it means something to choose an item; "" stands for a container without any."""
    about, scopes = known["container"], known["container"].get("scopes") or [{"name": ""}]
    named = any(line.startswith("activate:") for line in (known.get("definition") or "").splitlines())
    # Where no scope says what choosing is, a delegate may make something of it.
    is_told = named or any(scope.get("activate") for scope in scopes)
    return [scope["name"] for scope in scopes
            if named or scope.get("activate") or (not is_told and (scope.get("delegate") or about.get("delegate")))]


def usual_sort(known):
    """The order of a container whose lists have none of their own: the best voted first."""
    parts = [part for part in known["container"]["components"] if not part["hidden"]]
    if any(part.get("sort") for part in parts) or not any(part["kind"] == "votes" for part in parts):
        return []
    best = next((field["name"] for field in known["fields"] if field["type"] == "number" and not field.get("details")), None)
    return ["-votes.score"] + ([f"-{best}"] if best else [])


def origin(text):
    """An address of a page, as browsers name it."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/") or parts.query or set(text) & set(" ;,'"):
        raise argparse.ArgumentTypeError(f"{text!r} is no origin such as https://films.example.org")
    return f"{parts.scheme}://{parts.netloc}"


def port(text):
    """A port to listen on; 0: any."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: they go from 0 (any) to 65535")
    return int(text)


def arguments():
    parser = argparse.ArgumentParser(prog="atrium-web", description="Shows containers of Atrium in browsers, live.")
    parser.add_argument("--container", action="append", default=[], metavar="NAME",
                        help="which, once for each (default: all there are)")
    parser.add_argument("--socket", help="atriumd's (default: ATRIUM_SOCKET, or where it usually is)")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s)")
    parser.add_argument("--port", type=port, default=8080, help="0: any (default: %(default)s)")
    parser.add_argument("--namespace", default="web", help="of the people's actors (default: %(default)s)")
    parser.add_argument("--origin", action="append", default=[], type=origin, metavar="URL",
                        help="another address of the page, such as https://films.example.org")
    parser.add_argument("--image-origin", action="append", default=[], type=origin, metavar="URL",
                        help="where pictures from elsewhere are shown from; no others are")
    parser.add_argument("--proxy", action="append", default=[], metavar="ADDRESS",
                        help="of a web server before this one, whose X-Forwarded-For and --user-header count")
    parser.add_argument("--user-header", metavar="NAME", help="the header in which a --proxy says who somebody is")
    parser.add_argument("--moderator", action="append", default=[], metavar="NAME",
                        help="who may moderate comments: a name of --user-header; the gateway's user has to be a moderator")
    parser.add_argument("--state", metavar="FOLDER", help="where the key of the cookies is kept (default: STATE_DIRECTORY, "
                        "or below XDG_STATE_HOME)")
    options = parser.parse_args()
    if options.user_header and not options.proxy:
        parser.error("--user-header counts only from a --proxy: name its address")
    options.socket = options.socket or default_socket()
    options.state = options.state or os.environ.get("STATE_DIRECTORY") or os.path.join(
        os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "atrium-web")
    return options


def listener(options):
    """The socket that systemd passed on, or one of our own."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()) and os.environ.get("LISTEN_FDS") == "1":
        return socket.socket(fileno=3)
    try:
        return socket.create_server((options.host, options.port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            sys.exit(f"port {options.port} is in use; --port names another ('make run' shows the page already)")
        sys.exit(f"can't listen on {options.host}, port {options.port}: {error.strerror.partition(' (')[0]}")


def main():
    options = arguments()
    gateway = Gateway(options)
    asyncio.run(gateway.check())
    with listener(options) as listening:
        port = listening.getsockname()[1]
        application = web.Application(middlewares=[guard], client_max_size=MOST_BYTES)
        application["origins"] = {f"http://{host}:{port}" for host in ("127.0.0.1", "localhost", options.host)} | set(options.origin)
        application.on_cleanup.append(gateway.reading.end)
        application["hosts"] = {one.partition("//")[2] for one in application["origins"]}
        application.add_routes([
            web.get("/", gateway.front), web.get("/-/page/{name}", gateway.file), web.get("/-/containers", gateway.containers),
            web.get("/-/live", gateway.live, allow_head=False), web.post("/-/call/{name:.*}", gateway.call), web.post("/-/prose", gateway.prose),
            web.get("/-/image/{container}/{component}/{item}/{field}", gateway.image),
            web.get("/{container:[^/-][^/]*}", gateway.shown), web.get("/{container:[^/-][^/]*}/{item:.+}", gateway.shown)])
        print(f"{', '.join(options.container) or 'all containers'}: http://{options.host}:{port}/ (Ctrl-C ends it)", flush=True)
        web.run_app(application, sock=listening, print=None, access_log=None, shutdown_timeout=1)


if __name__ == "__main__":
    main()
