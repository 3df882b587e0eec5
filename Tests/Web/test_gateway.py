"""The gateway, over HTTP."""
import asyncio
import contextlib
import hashlib
import importlib.util
import json
import os
import pathlib
import shutil
import sys
import unittest
from unittest import mock

from multidict import CIMultiDict

from club import Club, WEB


class TheGateway(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.club = Club()
        cls.addClassCleanup(cls.club.close)

    def setUp(self):
        self.club.fill()
        self.cookie = self.club.cookie()

    def test_sends_a_page_that_may_load_and_run_nothing_else(self):
        status, headers, body = self.club.send("GET", "/films")
        self.assertEqual(status, 200)
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertIn("script-src 'self'; style-src 'self'", policy)
        self.assertIn("trusted-types 'none'", policy)
        self.assertIn("img-src 'self' data:;", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(body.count(b"<script"), body.count(b"<script type=\"module\" src="))
        self.assertNotIn(b"style=", body)
        self.assertLessEqual({"HttpOnly", "SameSite=Lax"}, set(headers["Set-Cookie"].split("; ")))
        self.assertNotIn("Secure", headers["Set-Cookie"], "nobody could use it without TLS")
        again = self.club.send("GET", "/films", Cookie=self.cookie)
        self.assertIsNone(again[1]["Set-Cookie"])
        # What looks whether a page is there asks for its head alone, and is no new browser.
        status, headers, body = self.club.send("HEAD", "/films")
        self.assertEqual((status, headers.get_content_type(), body), (200, "text/html", b""))
        self.assertIsNone(headers["Set-Cookie"])
        self.assertEqual(self.club.send("HEAD", "/films", Origin="http://elsewhere.example")[0], 403)
        self.assertEqual(self.club.send("HEAD", "/-/live?container=films")[0], 405, "a stream has no end")
        for name, kind in (("app.js", "text/javascript"), ("style.css", "text/css")):
            status, headers, _ = self.club.send("GET", f"/-/page/{name}")
            self.assertEqual((status, headers.get_content_type()), (200, kind))
        self.assertEqual(self.club.send("GET", "/-/page/..%2Fgateway.py")[0], 404)

    def test_a_page_of_what_is_not_there_has_the_status_404(self):
        for path in ("/nope", "/nope.js", "/films/nope", "/nope/alien-1979"):
            status, headers, body = self.club.send("GET", path, Cookie=self.cookie)
            self.assertEqual((status, headers.get_content_type()), (404, "text/html"), path)
            self.assertIn(b"<script", body, "the page says itself what is missing")
        for path in ("/", "/films", "/films/alien-1979"):
            self.assertEqual(self.club.send("GET", path, Cookie=self.cookie)[0], 200, path)

    def test_passes_on_a_snapshot_and_then_each_revision(self):
        with self.club.live("open=" + json.dumps({"limit": 2, "sort": ["-votes.score"]}).replace(" ", "")) as live:
            hello = live.next("hello")[1]
            self.assertEqual(hello["title"], "Film club")
            mark, first = live.next("revision")
            self.assertEqual(mark, f"{first['screen']}:{first['revision']}")
            self.assertIsNone(first.get("base"))
            self.assertEqual([len(films["edits"]) for films in first["lists"] if films["component"] == "list"], [2])
            self.club.type("vote", "films/alien-1979", "4")
            mark, second = live.next("revision")
            self.assertEqual(mark, f"{first['screen']}:{second['revision']}")
            self.assertIn("alien-1979", json.dumps(second["lists"]))

    def test_resumes_a_screen_from_the_last_event(self):
        with self.club.live() as live:
            live.next("hello")
            mark, first = live.next("revision")
        self.club.type("vote", "films/12-angry-men-1957", "5")
        with self.club.live(Last_Event_ID=mark) as live:
            live.next("hello")
            reply = live.next("revision")[1]
            self.assertEqual((reply["screen"], reply.get("base")), (first["screen"], first["revision"]))
            self.assertIn("12-angry-men-1957", json.dumps(reply["lists"]))
        with self.club.live("resume=nowhere:3") as live:
            live.next("hello")
            reply = live.next("revision")[1]
            self.assertIsNone(reply.get("base"))
            self.assertTrue(reply["reset"])

    def test_lets_each_browser_act_for_itself(self):
        for cookie in (self.cookie, self.cookie, self.club.cookie()):
            status, reply = self.club.call("Cast", {"item": "alien-1979", "value": 4}, cookie)
            self.assertEqual(status, 200, reply)
        self.assertEqual(self.club.tally("alien-1979")["count"], 2)

    def screen(self, cookie=None):
        """The first revision of a browser's screen, which waits to be resumed."""
        with self.club.live(**{"Cookie": cookie} if cookie else {}) as live:
            live.next("hello")
            return live.next("revision")[1]

    def test_who_has_no_cookie_sees_nothing_of_the_gateways_user(self):
        self.club.type("vote", "films", "4")
        self.club.type("vote", "films/alien-1979", "4")
        self.club.type("comment", "films", "From the gateway's user.")
        with self.club.live() as live:
            self.assertEqual(live.next("hello")[1]["actor"], "")
            screen = live.next("revision")[1]
        self.assertEqual(screen["tally"]["count"], 1)
        self.assertNotRegex(json.dumps(screen), '"mine": [0-9]')

    def test_a_screen_takes_calls_of_its_browser_alone(self):
        own, nobodys = self.screen(self.cookie)["screen"], self.screen()["screen"]
        for screen, cookie in ((own, self.club.cookie()), (nobodys, self.cookie), ("unknown", self.cookie)):
            for name, parameters in (("Activate", {"item": "alien-1979"}), ("Search", {"text": "alien"})):
                status, reply = self.club.call(name, {"screen": screen, **parameters}, cookie)
                self.assertEqual((status, reply["error"]), (404, "ScreenNotFound"), (name, screen))
        status, reply = self.club.call("Search", {"screen": own, "text": "alien"}, self.cookie)
        self.assertEqual(status, 200, reply)
        with self.club.live(f"resume={own}:1", Cookie=self.club.cookie()) as live:
            live.next("hello")
            self.assertNotEqual(live.next("revision")[1]["screen"], own)

    def test_shows_no_cookie_and_no_other_name_than_its_own(self):
        call = {"item": "alien-1979", "text": "In space.", "actor": "unix:0"}
        comment = self.club.call("Post", call, self.cookie)[1]["comment"]
        self.assertRegex(comment["author"], "^web:[0-9a-f]{24}$")
        self.assertNotIn(self.cookie.split("=")[1], comment["author"])

    def test_refuses_what_does_not_come_from_its_own_page(self):
        vote = {"item": "alien-1979", "value": 1}
        for headers in (
                {"Origin": "http://evil.example"}, {"Origin": None}, {"Origin": "null"}, {"Host": "evil.example"},
                {"Content_Type": "text/plain"}, {"Content_Type": None}, {"Cookie": None}, {"Cookie": "atrium=x"}):
            status, reply = self.club.call("Cast", vote, self.cookie, **headers)
            self.assertEqual((status, reply["error"]), (403, "Forbidden"), headers)
        for path in ("/", "/films", "/-/live"):
            self.assertEqual(self.club.send("GET", path, Host="evil.example")[0], 403)
        self.assertEqual(self.club.tally("alien-1979")["count"], 0)

    def test_says_what_is_wrong_with_a_call(self):
        film = {"item": "alien-1979"}
        for name, parameters, status, words in (
                ("Delete", {"container": "films"}, 400, "comment"), ("Apply", {}, 404, "Cast"), ("", {}, 404, "Cast"),
                ("Cast", b"{", 400, "JSON object"), ("Cast", b"[1]", 400, "JSON object"),
                ("Cast", b"[" * 60000, 400, "JSON object"), ("Cast", b" " * 70000, 413, "65536"),
                ("Cast", film | {"value": 9}, 400, "5"), ("Cast", {"item": "nothing", "value": 1}, 404, "nothing"),
                ("Cast", film | {"value": "x"}, 400, "value"), ("Select", {"screen": 5}, 400, "screen")):
            found, reply = self.club.call(name, parameters, self.cookie)
            self.assertEqual(found, status, (name, parameters, reply))
            self.assertIn(words, json.dumps(reply), name)
        self.assertEqual(self.club.send("GET", "/-/etc/passwd")[0], 404)
        for query in ("open=[]", "open={"):
            with self.club.live(query) as live:
                self.assertEqual(live.next("refused")[1]["error"], "BadCall")

    def test_finds_filters_by_what_the_page_says_alone(self):
        find = {"section": "genre", "text": "dra", "filters": {}}
        status, found = self.club.call("Find", find, self.cookie)
        self.assertEqual((status, [one["id"] for one in found["sections"][0]["filters"]]), (200, ["drama"]))
        for more in ({"cursor": "9223372036854775807"}, {"cursor": -1}, {"component": "nothing"}, {"search": "zzz"}, {"actor": "unix:0"}):
            self.assertEqual(self.club.call("Find", find | more, self.cookie), (200, found), more)

    def test_pages_of_lists_and_threads_are_read_as_the_page_asks_alone(self):
        self.club.type("vote", "films/alien-1979", "4")
        for name, asked in (("List", {"limit": 1, "search": "alien", "sort": ["-year"]}), ("Thread", {"item": "alien-1979", "limit": 1})):
            status, reply = self.club.call(name, asked, self.cookie)
            self.assertEqual(status, 200, reply)
            again = self.club.call(name, asked | {"actor": "unix:0", "facets": True, "depth": -1, "fields": 5}, self.cookie)
            self.assertEqual(again, (200, reply), name)
        self.assertNotIn("mine", json.dumps(self.club.call("List", {"search": "alien", "actor": "unix:0"}, self.cookie)[1]))

    def test_says_that_the_daemon_is_away(self):
        with self.club.live() as live:
            live.next("hello")
            live.next("revision")
            self.club.stop()
            try:
                self.assertEqual(self.club.send("GET", "/films", Cookie=self.cookie)[0], 200, "the page itself says so, and comes back")
                self.assertEqual(live.next("refused")[1]["error"], "Unreachable")
                status, reply = self.club.call("Cast", {"item": "alien-1979", "value": 1}, self.cookie)
                self.assertEqual(status, 503)
                self.assertIn(self.club.socket, reply["parameters"]["reason"])
            finally:
                self.club.start()


class AtTheStart(unittest.TestCase):
    """It says what it lacks, and what to do."""

    @classmethod
    def setUpClass(cls):
        cls.club = Club()
        cls.addClassCleanup(cls.club.close)
        cls.club.fill()

    def test_it_wants_a_daemon(self):
        self.assertIn("start it", self.club.refusal("--socket", str(self.club.home / "none.sock")))

    def test_it_wants_its_containers(self):
        said = self.club.refusal("--container", "nothing")
        self.assertIn("'nothing'; there are: films", said)
        self.assertIn("atriumctl apply -f nothing.yaml", said)

    @unittest.skipUnless(os.getuid() == 0, "acts for another user, as root alone can")
    def test_it_wants_to_act_for_people(self):
        self.club.home.chmod(0o755)
        os.chmod(self.club.socket, 0o666)
        state = self.club.home / "another"
        state.mkdir()
        os.chown(state, 65534, 65534)
        as_nobody = {"prefix": ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")}
        said = self.club.refusal("--state", str(state), **as_nobody)
        self.assertIn(f"add this line to the atrium.yaml of the daemon at {self.club.socket}", said)
        self.assertIn("\nfrontends: [nobody=web]\n", said)
        self.assertNotIn("moderators", said)
        moderating = ("--state", str(state), "--proxy", "127.0.0.1", "--user-header", "X-User", "--moderator", "ada")
        self.assertIn("\nfrontends: [nobody=web]\nmoderators: [nobody]\n", self.club.refusal(*moderating, **as_nobody))
        self.addCleanup(self.club.fill)
        self.club.type("delete", "films", "--purge", "--yes")
        self.assertIn("\nfrontends: [nobody=web]\nmoderators: [nobody]\n", self.club.refusal(*moderating, **as_nobody),
                      "also before there is a container")
        settings = self.club.home / "atrium.yaml"
        self.addCleanup(lambda: (settings.unlink(), self.club.type("reload")))
        settings.write_text("frontends: [nobody=web]\n")
        self.club.type("reload")
        said = self.club.refusal(*moderating, **as_nobody)
        self.assertIn("\nmoderators: [nobody]\n", said)
        self.assertNotIn("frontends", said)
        settings.write_text("frontends: [nobody=web]\nmoderators: [nobody]\n")
        self.club.type("reload")
        self.assertIn("'nothing'; there are: none", self.club.refusal(*moderating, "--container", "nothing", **as_nobody))

    def test_it_wants_a_key_of_its_own(self):
        state = self.club.home / "open"
        state.mkdir()
        (state / "cookie-key").write_bytes(b"x" * 32)
        (state / "cookie-key").chmod(0o644)
        self.assertIn("chmod 600", self.club.refusal("--state", str(state)))
        self.assertEqual((self.club.home / "atrium-web/cookie-key").stat().st_mode & 0o777, 0o600)

    def test_it_wants_a_port_and_an_address_to_listen_on(self):
        taken = self.club.host.partition(":")[2]
        self.assertEqual(self.club.refusal("--port", taken),
                         f"port {taken} is in use; --port names another ('make run' shows the page already)\n")
        self.assertIn("'99999' is no port", self.club.refusal("--port", "99999"))
        self.assertIn("'-1' is no port", self.club.refusal("--port=-1"))
        # An address of documentation (RFC 5737), which no machine has.
        self.assertEqual(self.club.refusal("--host", "192.0.2.1"),
                         "can't listen on 192.0.2.1, port 0: Cannot assign requested address\n")

    def test_an_origin_of_pictures_is_one(self):
        for odd in ("img.example.org", "https://img.example.org/path", "https://img.example.org;script-src", "ftp://img.example.org"):
            self.assertIn("is no origin", self.club.refusal("--image-origin", odd))

    def test_it_believes_a_header_from_a_proxy_alone(self):
        self.assertIn("--proxy", self.club.refusal("--user-header", "X-User"))


class Visits(unittest.TestCase):
    """Who a request is from, and how much one may take."""

    def setUp(self):
        sys.path.insert(0, str(WEB))
        self.addCleanup(sys.path.remove, str(WEB))
        import visitors
        self.visitors = visitors

    @staticmethod
    def request(remote="10.0.0.1", cookie="", **headers):
        headers = CIMultiDict((name.replace("_", "-"), line) for name, lines in headers.items()
                              for line in ([lines] if isinstance(lines, str) else lines))
        return mock.Mock(remote=remote, cookies={"atrium": cookie} if cookie else {}, headers=headers)

    def greet(self, visitors, request, secure=False):
        response = mock.Mock()
        visitors.greet(request, response, secure)
        return response.set_cookie.call_args

    def test_a_cookie_is_signed_and_one_of_before_keeps_its_actor(self):
        web = self.visitors.Visitors("web", b"k" * 32)
        old = "a" * 32
        self.assertEqual(web.actor(self.request(cookie=old)), "", "anyone makes up such a one")
        (_, new), told = self.greet(web, self.request(cookie=old), secure=True)
        self.assertTrue(told["secure"] and told["httponly"])
        actor = web.actor(self.request(cookie=new))
        self.assertEqual(actor, "web:" + hashlib.sha256(old.encode()).hexdigest()[:24])
        self.assertEqual(web.actor(self.request(cookie=new[:-1] + "_")), "")
        self.assertEqual(self.visitors.Visitors("web", b"o" * 32).actor(self.request(cookie=new)), "", "another key")
        self.assertIsNone(self.greet(web, self.request(cookie=new)))

    def test_a_header_counts_from_the_proxy_alone(self):
        web = self.visitors.Visitors("web", b"k" * 32, ["127.0.0.1"], "X-User")
        self.assertEqual(web.actor(self.request("127.0.0.1", X_User="ada")), "web:ada")
        self.assertEqual(web.actor(self.request("10.0.0.1", X_User="ada")), "")
        for odd in ("a b", "f" * 24, "ö", "x" * 65):
            self.assertRegex(web.actor(self.request("127.0.0.1", X_User=odd)), "^web:[0-9a-f]{24}$")
            self.assertNotEqual(web.actor(self.request("127.0.0.1", X_User=odd)), f"web:{odd}")

    def test_an_address_is_who_the_proxy_says(self):
        web = self.visitors.Visitors("web", b"k" * 32, ["127.0.0.1"])
        self.assertEqual(web.address(self.request("127.0.0.1", X_Forwarded_For="6.6.6.6, 10.0.0.7")), "10.0.0.7")
        self.assertEqual(web.address(self.request("10.0.0.9", X_Forwarded_For="10.0.0.7")), "10.0.0.9")
        lines = self.request("127.0.0.1", X_Forwarded_For=["6.6.6.6", "10.0.0.7, 127.0.0.1"])
        self.assertEqual(web.address(lines), "10.0.0.7", "the proxy's own line comes last")

    def test_an_address_of_ipv6_is_counted_with_its_neighbours(self):
        web = self.visitors.Visitors("web", b"k" * 32)
        found = [web.address(self.request(one)) for one in (
            "2001:db8:0:1::1", "2001:DB8::1:ffff:0:0:2", "2001:db8:0:2::1", "::1", "::ffff:10.0.0.7", "fe80::1%eth0")]
        self.assertEqual(found, ["2001:db8:0:1::/64", "2001:db8:0:1::/64", "2001:db8:0:2::/64", "::/64", "10.0.0.7", "fe80::/64"])

    def test_a_few_addresses_do_not_fill_the_gateway(self):
        web = self.visitors.Visitors("web", b"k" * 32)
        with contextlib.ExitStack() as open_ones:
            for address in range(8):
                for _ in range(100):
                    open_ones.enter_context(web.stream(self.request(f"10.0.0.{address}")))
            open_ones.enter_context(web.stream(self.request("10.0.1.1")))
            with self.assertRaises(self.visitors.Refused) as refused:
                web.stream(self.request("10.0.1.1")).__enter__()
            self.assertIn("the last 200 are for addresses that have none", str(refused.exception.body))
            for address in range(199):
                open_ones.enter_context(web.stream(self.request(f"10.0.2.{address}")))
            with self.assertRaises(self.visitors.Refused):
                web.stream(self.request("10.0.3.1")).__enter__()
        self.assertFalse(web.streams)

    def test_whatever_asks_the_daemon_is_counted(self):
        import gateway
        mine = object.__new__(gateway.Gateway)
        mine.visitors = mock.Mock()
        mine.visitors.count_call.side_effect = self.visitors.Refused("LimitExceeded", "enough")
        for ask in (mine.containers, mine.live, mine.image):
            with self.assertRaises(self.visitors.Refused, msg=ask.__name__):
                asyncio.run(ask(self.request()))

    def test_says_for_whom_it_asks(self):
        import gateway
        mine = object.__new__(gateway.Gateway)
        mine.served, mine.options = set(), mock.Mock(container=[])
        mine.visitors, mine.daemon = mock.Mock(), mock.Mock(text=mock.AsyncMock(return_value=b"{}"))
        mine.visitors.actor.return_value = "web:ada"
        for name in ("Find", "List", "Get", "Thread", "Cast"):
            mine.body = mock.AsyncMock(return_value={"container": "films", "actor": "unix:0"})
            asyncio.run(mine.call(mock.Mock(match_info={"name": name})))
            self.assertEqual(mine.daemon.text.call_args.args[1]["actor"], "web:ada", name)

    def test_passes_a_reply_on_unread(self):
        import daemon
        reply = b'{"items":[{"id":"\xc3\xa9"}],"total":1}'
        missing = b'{"error":"org.atrium.Contents.ItemNotFound","parameters":{"item":"x"}}'
        frames = iter([b'{"parameters":%s}' % reply, b"{}", missing, None])

        async def replies(_, *__):
            yield next(frames)

        with mock.patch.object(daemon.Daemon, "replies", replies):
            with mock.patch("json.loads", side_effect=AssertionError):
                self.assertEqual(asyncio.run(daemon.Daemon("").text("List", {})), reply)
            self.assertEqual(asyncio.run(daemon.Daemon("").text("List", {})), b"{}")
            for name in ("ItemNotFound", "Unreachable"):
                with self.assertRaises(daemon.Refused) as refused:
                    asyncio.run(daemon.Daemon("").text("List", {}))
                self.assertEqual(refused.exception.name, name)

    def test_nobody_is_called_like_who_only_looks(self):
        web = self.visitors.Visitors("web", b"k" * 32, ["127.0.0.1"], "X-User")
        self.assertNotEqual(web.actor(self.request("127.0.0.1", X_User="nobody")), web.nobody)

    def test_an_address_gets_twenty_new_ones_an_hour(self):
        web = self.visitors.Visitors("web", b"k" * 32)
        given = [self.greet(web, self.request()) for _ in range(25)]
        self.assertEqual(len([one for one in given if one]), 20)
        self.assertIsNotNone(self.greet(web, self.request("10.0.0.2")), "another address has its own")

    def test_nobody_locks_others_out(self):
        web = self.visitors.Visitors("web", b"k" * 32)
        (_, ada), _ = self.greet(web, self.request())
        (_, bob), _ = self.greet(web, self.request())
        with contextlib.ExitStack() as open_ones:
            for _ in range(20):
                open_ones.enter_context(web.stream(self.request(cookie=ada)))
            with self.assertRaises(self.visitors.Refused):
                web.stream(self.request(cookie=ada)).__enter__()
            open_ones.enter_context(web.stream(self.request(cookie=bob)))
        with web.stream(self.request(cookie=ada)):
            self.assertEqual(sum(web.streams.values()), 3)
        self.assertFalse(web.streams)
        for _ in range(100):
            web.count_call(self.request(cookie=ada))
        with self.assertRaises(self.visitors.Refused):
            for _ in range(100):
                web.count_call(self.request(cookie=ada))
        web.count_call(self.request(cookie=bob))


class ItsSocket(unittest.TestCase):
    """The daemon that the gateway talks to where it is told of none: below /tmp anyone makes folders."""

    def setUp(self):
        # A user of their own, whose folder is nobody's else: the real one may have a daemon.
        self.user = 1_000_000_000 + os.getpid()
        self.folder = pathlib.Path(f"/tmp/atrium-{self.user}")
        self.socket = str(self.folder / "atrium.sock")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def find(self, *words, there=None, **variables):
        """The socket that it would talk to where these are there; where it refuses one, what it says."""
        there = [self.socket] if there is None else there
        spec = importlib.util.spec_from_file_location("gateway", WEB / "gateway.py")
        gateway = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(WEB))
        self.addCleanup(sys.path.remove, str(WEB))
        spec.loader.exec_module(gateway)
        import daemon
        with mock.patch("os.getuid", return_value=self.user), mock.patch.dict(os.environ, variables, clear=True), \
                mock.patch.object(daemon, "is_there", side_effect=lambda path: path in there), \
                mock.patch("sys.argv", ["gateway.py", *words]):
            try:
                return gateway.arguments().socket
            except SystemExit as refusal:
                return refusal.code

    @unittest.skipUnless(os.getuid() == 0, "gives folders to others, as root alone can")
    def test_is_the_users_own_before_the_machines(self):
        runtime, own, machine = "/run/user/7", "/run/user/7/atrium/atrium.sock", "/run/atrium/atrium.sock"
        self.folder.mkdir(mode=0o700)
        os.chown(self.folder, self.user, -1)
        for there, found in (
                ([own, self.socket, machine], own), ([self.socket, machine], self.socket), ([machine], machine), ([], own)):
            self.assertEqual(self.find(there=there, XDG_RUNTIME_DIR=runtime), found, there)
        self.assertEqual(self.find(there=[]), machine)
        os.chown(self.folder, self.user + 1, -1)
        self.assertEqual(self.find(there=[self.socket, machine]), machine, "nobody keeps a user from the machine's by a folder")
        self.assertIn("is not yours alone", self.find(there=[self.socket]))

    def test_is_one_that_is_there_also_where_nobody_may_look(self):
        sys.path.insert(0, str(WEB))
        self.addCleanup(sys.path.remove, str(WEB))
        import daemon
        for problem, is_there in ((PermissionError(), True), (FileNotFoundError(), False), (NotADirectoryError(), False)):
            with mock.patch("os.stat", side_effect=problem):
                self.assertEqual(daemon.is_there("/x"), is_there, problem)

    def test_tells_where_the_daemons_settings_are(self):
        sys.path.insert(0, str(WEB))
        self.addCleanup(sys.path.remove, str(WEB))
        import daemon
        self.assertEqual(daemon.settings_of("/run/atrium/atrium.sock"), ("/etc/atrium/atrium.yaml", "systemctl reload atriumd"))
        self.assertEqual(daemon.settings_of("/run/atrium-films/atrium.sock"),
                         ("/etc/atrium-films/atrium.yaml", "systemctl reload atriumd@films"))
        self.assertEqual(daemon.settings_of("/srv/a.sock"), ("the atrium.yaml of the daemon at /srv/a.sock",
                                                             "atriumctl --socket /srv/a.sock reload"))

    def refuses(self):
        said = self.find()
        self.assertIn(f"{self.folder} is not yours alone", said)
        self.assertIn("--socket", said)
        # Whoever names it trusts it.
        self.assertEqual(self.find(ATRIUM_SOCKET=self.socket), self.socket)
        self.assertEqual(self.find("--socket", self.socket), self.socket)

    def test_is_not_in_a_folder_of_somebody_else(self):
        self.folder.mkdir(mode=0o700)
        if os.getuid() == 0:
            os.chown(self.folder, self.user + 1, -1)
        self.refuses()

    @unittest.skipUnless(os.getuid() == 0, "gives folders to others, as root alone can")
    def test_is_in_a_folder_of_its_user_alone(self):
        self.folder.mkdir(mode=0o700)
        for owner in (self.user, 0):
            os.chown(self.folder, owner, -1)
            self.assertEqual(self.find(), self.socket)
            self.assertEqual(self.find(ATRIUM_SOCKET=""), self.socket)
        for mode in (0o720, 0o702, 0o777):
            self.folder.chmod(mode)
            self.refuses()

    def test_is_not_behind_a_link(self):
        self.folder.symlink_to("/")
        self.addCleanup(self.folder.unlink)
        self.refuses()


if __name__ == "__main__":
    unittest.main()
