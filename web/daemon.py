"""Calls of atriumd: Varlink, which is JSON over a Unix socket with NUL behind each message."""
import asyncio, contextlib, json, os, re, stat, sys

HEARTBEAT, MOST_REPLY_BYTES = 15, 64 << 20
BEGIN = b'{"parameters":'  # of a reply that is no error
STATUS = {"Forbidden": 403, "RoleRequired": 403, "ActorForbidden": 403, "LimitExceeded": 429, "StoreUnavailable": 503,
          "ComponentUnavailable": 503, "Unreachable": 503}


class Refused(Exception):
    """A call that was not carried out: the error's name, and its parameters."""
    def __init__(self, error, parameters):
        self.name = error.rpartition(".")[2]
        self.body = {"error": self.name, "parameters": parameters if isinstance(parameters, dict) else {"reason": parameters}}
        self.status = STATUS.get(self.name, 404 if self.name.endswith("NotFound") else 400)


def parameters_of(reply):
    """The parameters of a reply; an error is raised."""
    reply = json.loads(reply)
    if "error" in reply:
        raise Refused(reply["error"], reply.get("parameters", {}))
    return reply.get("parameters", {})


class Daemon:
    def __init__(self, path):
        self.path = path

    async def replies(self, method, parameters, **flags):
        """Gives each reply as the daemon wrote it. None: nothing came for a while."""
        try:
            reader, writer = await asyncio.open_unix_connection(self.path, limit=MOST_REPLY_BYTES)
            writer.write(json.dumps({"method": method, "parameters": parameters, **flags}).encode() + b"\0")
            try:
                while True:
                    try:
                        reply = (await asyncio.wait_for(reader.readuntil(b"\0"), HEARTBEAT))[:-1]
                    except asyncio.TimeoutError:
                        reply = None
                    yield reply
            finally:
                writer.close()
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Refused("Unreachable", f"atriumd does not answer at {self.path}: {error}") from error

    async def ask(self, method, parameters, **flags):
        """Gives the parameters of each reply. None: nothing came for a while."""
        async with contextlib.aclosing(self.replies(method, parameters, **flags)) as replies:
            async for reply in replies:
                yield None if reply is None else parameters_of(reply)

    async def reply(self, method, parameters):
        """The one reply of a call, as the daemon wrote it."""
        async with contextlib.aclosing(self.replies(method, parameters)) as replies:
            reply = await anext(replies)
        if reply is None:
            raise Refused("Unreachable", f"atriumd has not answered {method} for {HEARTBEAT} s")
        return reply

    async def answer(self, method, parameters):
        """The parameters of the one reply of a call."""
        return parameters_of(await self.reply(method, parameters))

    async def text(self, method, parameters):
        """The same in JSON: a page of 4 MB is passed on unread, which would keep everybody waiting."""
        reply = await self.reply(method, parameters)
        if reply.startswith(BEGIN) and reply.endswith(b"}}"):
            return reply[len(BEGIN):-1]
        return json.dumps(parameters_of(reply)).encode()


MACHINE = "/run/atrium/atrium.sock"


def is_there(path):
    """Whether there is something at a path, also where this user may not look."""
    try:
        os.stat(path)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def default_socket():
    """The socket in use, found as atriumctl finds it: the user's own daemon comes before the machine's."""
    if named := os.environ.get("ATRIUM_SOCKET"):
        return named
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    own, temporary = runtime and f"{runtime}/atrium/atrium.sock", f"/tmp/atrium-{os.getuid()}/atrium.sock"
    if own and is_there(own):
        return own
    if is_there(temporary):
        # Anyone makes folders in /tmp: the daemon in somebody else's is theirs.
        folder = os.lstat(os.path.dirname(temporary))
        if stat.S_ISDIR(folder.st_mode) and folder.st_uid in (0, os.getuid()) and not folder.st_mode & 0o022:
            return temporary
        # Whoever makes that folder does not keep anyone from the machine's daemon.
        if not is_there(MACHINE):
            sys.exit(f"{os.path.dirname(temporary)} is not yours alone: name the daemon's socket with --socket or ATRIUM_SOCKET")
    return MACHINE if is_there(MACHINE) else own or MACHINE


def settings_of(path):
    """Where the daemon behind a socket reads its settings, and the command that makes it read them again."""
    if machine := re.fullmatch(r"/run/atrium(?:-([a-z0-9-]+))?/atrium\.sock", os.path.realpath(path)):
        name = machine[1]
        return f"/etc/atrium{'-' + name if name else ''}/atrium.yaml", f"systemctl reload atriumd{'@' + name if name else ''}"
    return f"the atrium.yaml of the daemon at {path}", f"atriumctl --socket {path} reload"
