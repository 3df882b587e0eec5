"""What axe-core says of the page: in each state, light and dark, on a desk and at 320 px. AXE names its file."""
import os
import pathlib
import unittest

from club import EXAMPLES, Club
from webdriver import Browser

HERE = pathlib.Path(__file__).parent
AXE = os.environ.get("AXE", "")
# All rules in the light; in the dark those of colours, which alone are others there.
RUN = """const [rules, done] = arguments;
    axe.run(document, {resultTypes: ['violations'], ...rules}).then(({violations}) => done(violations.map(({id, nodes}) =>
        id + ': ' + nodes.map(({html, failureSummary}) => html.slice(0, 160) + ' ' + failureSummary.slice(0, 300)).slice(0, 3).join(' | '))),
        problem => done([String(problem)]));"""
WIDE = """return [...document.querySelectorAll('body *')].filter(element => element.offsetParent && !element.closest('.unseen, .skip')
    && element.getBoundingClientRect().right > innerWidth + 1).map(element => element.outerHTML.slice(0, 200))"""


@unittest.skipUnless(os.path.exists(AXE), "AXE names axe.min.js, which make test-deps fetches")
class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The browser is the moderator: who is who a proxy says, here the driver in each request.
        cls.club = Club("--proxy", "127.0.0.1", "--user-header", "X-User", "--moderator", "ada")
        cls.addClassCleanup(cls.club.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.axe = pathlib.Path(AXE).read_text(encoding="utf-8")
        # A few films do: axe looks at each element of each.
        films = (EXAMPLES / "films.ndjson").read_text(encoding="utf-8").splitlines()
        few = cls.club.home / "few.ndjson"
        few.write_text("\n".join([*films[:6], *(film for film in films[6:] if '"alien-1979"' in film)]) + "\n", encoding="utf-8")
        cls.club.type("apply", "-f", str(EXAMPLES / "films.yaml"))
        cls.club.type("import", "films", str(few))
        cls.club.type("apply", "-f", str(HERE / "shelf.yaml"))
        cls.club.type("import", "shelf", str(HERE / "shelf.ndjson"), "--component", "books")
        cls.club.type("vote", "films/alien-1979", "4")
        cls.club.type("comment", "films/alien-1979", "In space.", "--id", "space")
        cls.club.type("reply", "films", "space", "Nobody hears.")
        held = cls.club.home / "held.yaml"
        held.write_text((EXAMPLES / "shelf.yaml").read_text().replace("container: shelf", "container: held")
                        + "  - { name: talk, plugin: org.atrium.threads, settings: { moderated: true } }\n", encoding="utf-8")
        cls.club.type("apply", "-f", str(held))
        status, reply = cls.club.call("Post", {"container": "held", "text": "Is this read?"}, None, X_User="bob")
        assert status == 200, reply
        closed = cls.club.home / "closed.yaml"
        closed.write_text((EXAMPLES / "films.yaml").read_text().replace("container: films", "container: closed"), encoding="utf-8")
        cls.club.type("apply", "-f", str(closed))
        cls.club.type("import", "closed", str(few))
        cls.club.type("comment", "closed", "The last word.")
        cls.club.type("close", "closed", "--votes", "--comments")
        status, reply = cls.club.call("Post", {"text": "Thursdays?"}, None, X_User="ada")
        assert status == 200, reply
        cls.browser.request("POST", "/goog/cdp/execute", {"cmd": "Network.enable", "params": {}})
        cls.browser.request("POST", "/goog/cdp/execute", {"cmd": "Network.setExtraHTTPHeaders", "params": {"headers": {"X-User": "ada"}}})

    def test_axe_finds_what_is_there(self):
        self.browser.prefers("light")
        self.browser.open(self.club.url)
        self.browser.until("document.querySelectorAll('#containers a').length === 4")
        self.browser.run(self.axe)
        self.browser.run("document.querySelector('main').append(document.createElement('img'), document.createElement('button'))")
        self.browser.run("document.querySelector('#containers a').style.color = '#999'")
        for rules, names in (({}, {"image-alt", "button-name", "color-contrast"}), ({"runOnly": ["color-contrast"]}, {"color-contrast"})):
            said = self.browser.request("POST", "/execute/async", {"script": RUN, "args": [rules]})
            self.assertLessEqual(names, {problem.split(":")[0] for problem in said}, said)

    def test_axe_finds_nothing(self):
        alien, live = ".item[data-id='alien-1979']", "document.querySelector('#state').dataset.is === 'live'"
        states = {
            "the containers": ("", "document.querySelectorAll('#containers a').length === 4", None),
            "a list": ("films", f"{live} && document.querySelector('.item')", None),
            "a selection": ("films?f.genre=horror&f.genre=drama", f"{live} && document.querySelector('#clear').hidden === false", None),
            "nothing found": ("films?q=zzz", f"{live} && document.querySelector('.bar')?.textContent.includes('nothing fits')", None),
            "a film": ("films/alien-1979", f"{live} && document.querySelector('.comment:nth-child(2)')", None),
            "the talk of a film": ("films?q=alien", f"{live} && document.querySelector(\"{alien} .talk\")",
                                   (f"document.querySelector(\"{alien} .talk\").click()", "document.querySelector('.comment:nth-child(2)')")),
            "the queue": ("held", f"{live} && document.querySelector('#open-queue').hidden === false",
                          ("document.querySelector('#open-queue').click(); document.querySelector('#waiting .deciding > button:nth-of-type(2)')?.click()",
                           "document.querySelector('#waiting form:not([hidden]) input')")),
            "a message": ("films?q=alien", f"{live} && document.querySelector('.item')",
                          ("import('/-/page/dom.js').then(({ message }) => message('You chose Horror.'))", "document.querySelector('#message').offsetParent")),
            "editing": ("films", f"{live} && document.querySelector('#thread .comment')",
                        ("[...document.querySelectorAll('#thread .plain')].find(one => one.textContent === 'Edit' && !one.hidden).click()",
                         "document.querySelector('.editing textarea')")),
            "closed": ("closed", f"{live} && document.querySelector('.bar .closed')?.hidden === false", None),
            "a tab": ("shelf?scope=papers", f"{live} && document.querySelector('.tab')", None),
            "an item of all kinds": ("shelf/emma", f"{live} && document.querySelector('.prose em')", None)}
        found = []
        for width in (1360, 320):
            self.browser.size(width, 900, mobile=width == 320)
            for name, (path, ready, then) in states.items():
                self.browser.open(self.club.url + path)
                self.browser.until(ready, why=name)
                if then:
                    self.browser.run(then[0])
                    self.browser.until(then[1], why=name)
                # Run as the driver's script: the page's own policy would not have it.
                self.browser.run(self.axe)
                if wide := self.browser.run(WIDE):
                    found.append((name, width, "too wide", wide[:3]))
                for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
                    self.browser.prefers(scheme)
                    said = self.browser.request("POST", "/execute/async", {"script": RUN, "args": [rules]})
                    found += [(name, width, scheme, problem) for problem in said]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
