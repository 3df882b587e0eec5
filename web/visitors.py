"""Who a request is from, and how much of the gateway each may take.

A person is who a proxy says (a header, from the proxy's address only), or else who the cookie says: a random token with a
signature of ours, so that nobody makes up identities by the million. The actor is a digest of the token: actors are shown,
cookies are secrets.
"""
import base64, collections, contextlib, hashlib, hmac, ipaddress, os, pathlib, re, secrets, stat, sys, time
from daemon import Refused

NEW_PER_HOUR = 20  # identities of an address
STREAMS = {"all": 1000, "address": 100, "person": 20}  # open at a time
RESERVE = 200  # of all streams: for addresses that have none open
CALLS = {"address": (100, 400), "person": (20, 100)}  # a second in the long run, and at once
MOST_KNOWN = 100_000  # addresses and persons that are counted
NOBODY = "nobody"
COOKIE, TOKEN, YEAR = "atrium", re.compile(r"[A-Za-z0-9_-]{32}"), 365 * 24 * 3600


def read_key(folder):
    """The key that cookies are signed with; made where there is none."""
    path = pathlib.Path(folder) / "cookie-key"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            # Whole or not at all: another gateway may start meanwhile.
            made = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
            with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
            try:
                os.link(made, path)
            finally:
                made.unlink()
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            sys.exit(f"{path} is open to others, who could act for anybody: chmod 600 {path}, or remove it for a new one")
        key = path.read_bytes()
    except OSError as error:
        sys.exit(f"the key of the cookies can't be kept: {error}; name a folder with --state")
    if len(key) < 32:
        sys.exit(f"{path} is no key of 32 bytes: remove it for a new one")
    return key


class Bucket:
    """So many at once, and so many a second."""
    __slots__ = ("left", "at")

    def __init__(self, most):
        self.left, self.at = most, time.monotonic()

    def take(self, rate, most):
        now = time.monotonic()
        self.left, self.at = min(most, self.left + (now - self.at) * rate), now
        if self.left < 1:
            return False
        self.left -= 1
        return True


def network(address):
    """What is counted as one: an address, of IPv6 the 64 bits that a household or a machine has to itself."""
    try:
        known = ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        return address[:64]
    if known.version == 6 and known.ipv4_mapped:
        known = known.ipv4_mapped
    return str(known) if known.version == 4 else str(ipaddress.IPv6Network((int(known) >> 64 << 64, 64)))


class Visitors:
    def __init__(self, namespace, key, proxies=(), header=None):
        self.namespace, self.key, self.proxies, self.header = namespace, key, frozenset(proxies), header
        # Who looks without being anybody: no digest and no user's name is this.
        self.nobody = f"{namespace}:{NOBODY}"
        self.streams = collections.Counter()
        self.buckets = collections.OrderedDict()

    def address(self, request):
        """Where a request is from: behind our proxies, who they say. A proxy may add a line to those that the browser sent."""
        address = request.remote or ""
        if address in self.proxies:
            for one in reversed(",".join(request.headers.getall("X-Forwarded-For", [])).split(",")):
                if (one := one.strip()) and one not in self.proxies:
                    return network(one)
        return network(address)

    def sign(self, token):
        return base64.urlsafe_b64encode(hmac.digest(self.key, token.encode(), "sha256")[:24]).decode()

    def actor(self, request):
        """Who the request is from; empty: nobody that we know."""
        if self.header and request.remote in self.proxies and (user := request.headers.get(self.header, "").strip()):
            plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", user) and not re.fullmatch(f"[0-9a-f]{{24}}|{NOBODY}", user)
            return f"{self.namespace}:{user if plain else hashlib.sha256(b'user ' + user.encode()).hexdigest()[:24]}"
        token, _, signature = request.cookies.get(COOKIE, "").partition(".")
        if not TOKEN.fullmatch(token) or not hmac.compare_digest(signature.encode(), self.sign(token).encode()):
            return ""
        return f"{self.namespace}:{hashlib.sha256(token.encode()).hexdigest()[:24]}"

    def greet(self, request, response, secure):
        """Gives a browser a cookie where it has none; one of before we signed them keeps its actor."""
        if self.actor(request):
            return
        if not self.bucket("new", self.address(request), NEW_PER_HOUR / 3600, NEW_PER_HOUR):
            return  # It reads; what it writes is refused with the reason.
        token = request.cookies.get(COOKIE, "")
        token = token if TOKEN.fullmatch(token) else secrets.token_urlsafe(24)
        # Lax: who follows a link from elsewhere stays who they are. Others' pages can't call: `guard` sees to that.
        response.set_cookie(COOKIE, f"{token}.{self.sign(token)}", httponly=True, samesite="Lax", secure=secure, max_age=YEAR)

    def bucket(self, kind, who, rate, most):
        bucket = self.buckets.pop((kind, who), None) or Bucket(most)
        self.buckets[kind, who] = bucket
        if len(self.buckets) > MOST_KNOWN:
            self.buckets.popitem(last=False)
        return bucket.take(rate, most)

    def count_call(self, request):
        for kind, who in (("person", self.actor(request)), ("address", self.address(request))):
            rate, most = CALLS[kind]
            if who and not self.bucket(kind, who, rate, most):
                raise Refused("LimitExceeded", {"reason": f"{most} calls at once and {rate} a second of one {kind} are taken",
                                                "retryAfter": 1.0})

    @contextlib.contextmanager
    def stream(self, request):
        """Counts a live screen as long as it is open."""
        keys = [("person", self.actor(request)), ("address", self.address(request)), ("all", "")]
        keys = [(kind, who) for kind, who in keys if who or kind == "all"]
        # Who has some already leaves the last ones to others: a few addresses don't fill the gateway.
        has_some = self.streams["address", self.address(request)] > 0
        for kind, who in keys:
            reserve = RESERVE if kind == "all" and has_some else 0
            if self.streams[kind, who] >= STREAMS[kind] - reserve:
                of = "" if kind == "all" else f" of one {kind}"
                rest = f": the last {reserve} are for addresses that have none" if reserve else ""
                raise Refused("LimitExceeded", f"{self.streams[kind, who]} screens{of} are open, and no more are taken{rest}")
        self.streams.update(keys)
        try:
            yield
        finally:
            self.streams.subtract(keys)
            for key in keys:
                if not self.streams[key]:
                    del self.streams[key]
