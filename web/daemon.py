"""Calls of atriumd: Varlink, which is JSON over a Unix socket with NUL behind each message."""
import asyncio, contextlib, json, os, stat, sys

HEARTBEAT, MOST_REPLY_BYTES = 15, 64 << 20
STATUS = {"Forbidden": 403, "RoleRequired": 403, "ActorForbidden": 403, "LimitExceeded": 429, "StoreUnavailable": 503,
          "ComponentUnavailable": 503, "Unreachable": 503}


class Refused(Exception):
    """A call that was not carried out: the error's name, and its parameters."""
    def __init__(self, error, parameters):
        self.name = error.rpartition(".")[2]
        self.body = {"error": self.name, "parameters": parameters if isinstance(parameters, dict) else {"reason": parameters}}
        self.status = STATUS.get(self.name, 404 if self.name.endswith("NotFound") else 400)


class Daemon:
    def __init__(self, path):
        self.path = path

    async def ask(self, method, parameters, **flags):
        """Gives each reply. None: nothing came for a while."""
        try:
            reader, writer = await asyncio.open_unix_connection(self.path, limit=MOST_REPLY_BYTES)
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
            raise Refused("Unreachable", f"atriumd does not answer at {self.path}: {error}") from error

    async def answer(self, method, parameters):
        """The one reply of a call."""
        async with contextlib.aclosing(self.ask(method, parameters)) as replies:
            reply = await anext(replies)
        if reply is None:
            raise Refused("Unreachable", f"atriumd has not answered {method} for {HEARTBEAT} s")
        return reply


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
