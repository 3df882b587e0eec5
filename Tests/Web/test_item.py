"""The pages of items, their addresses, and what else screens tell: scopes, items within items, parts."""
import base64
import http.server
import pathlib
import threading
import unittest

from club import EXAMPLES, Club
from webdriver import Browser

HERE = pathlib.Path(__file__).parent
ROWS = "[...document.querySelectorAll('.item')].filter(row => row.offsetParent).map(row => row.dataset.id).join()"


PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


class Pictures(http.server.BaseHTTPRequestHandler):
    """Pictures from elsewhere, and who asked for them."""
    asked = []

    def do_GET(self):
        self.asked.append((self.server.server_port, self.path))
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(PIXEL)

    def log_message(self, *_):
        pass


class Items(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.origins = []
        for _ in range(2):
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            cls.addClassCleanup(server.server_close)
            cls.addClassCleanup(server.shutdown)
            cls.origins.append(f"http://127.0.0.1:{server.server_port}")
        cls.club = Club("--image-origin", cls.origins[0])
        cls.addClassCleanup(cls.club.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.club.fill()
        cls.club.type("apply", "-f", str(HERE / "shelf.yaml"))
        cls.club.type("import", "shelf", str(HERE / "shelf.ndjson"), "--component", "books")
        days = cls.club.home / "day"
        days.mkdir()
        for file in (EXAMPLES / "day").iterdir():
            (days / file.name).write_text(file.read_text().replace("/srv/day", str(days)))
        (days / "make-days").chmod(0o755)
        cls.club.type_of(str(days / "make-days"), str(days))
        cls.club.type("apply", "-f", str(days))

    def setUp(self):
        self.browser.size(1360, 900)
        self.browser.complaints()

    def open(self, path):
        self.browser.open(self.club.url + path)
        self.browser.until("document.querySelector('#state').dataset.is === 'live'", why=f"{path} is live")

    def until_text(self, selector, text, why=""):
        self.browser.until("document.querySelector(args[0])?.textContent.includes(args[1])", selector, text, why=why)

    def until_rows(self, ids, why=""):
        self.browser.until(f"{ROWS} === args[0]", ids, why=why)

    def until_address(self, path):
        self.browser.until("decodeURIComponent(location.pathname + location.search) === args[0]", path, why="the address")

    def test_the_first_page_lists_the_containers(self):
        self.browser.open(self.club.url)
        self.until_text("#containers", "Film club")
        self.browser.click("#containers a[href='/films']")
        self.browser.until_at("/films")
        self.browser.until("document.querySelectorAll('.item').length === 30")
        self.browser.click("#home")
        self.browser.until("location.pathname === '/' && document.querySelector('#containers a')", why="and back to the others")
        self.browser.open(self.club.url + "nothing")
        self.until_text("#problems", "There is no “nothing” here.")
        self.browser.until("document.querySelector('#home').offsetParent", why="a way on")

    def test_a_title_leads_to_a_page_and_back_to_where_one_was(self):
        self.open("films?f.genre=horror")
        self.browser.until("document.querySelectorAll('.item').length === 6", why="the address says what is selected")
        self.browser.click(".item[data-id='alien-1979'] h3 a")
        self.until_text("#detail h2", "Alien")
        self.until_text("#detail .facts", "1 h 57 min")
        self.until_text("#subject", "Alien")
        self.assertEqual(self.browser.run("return document.activeElement.id"), "item-title")
        self.until_address("/films/alien-1979?f.genre=horror")
        self.club.type("put", "films/alien-1979", "title=Alien", "year=1978", "rating=8.5", "duration=1h57m", "genres=horror")
        self.until_text("#detail .facts", "1978", why="it is live")
        self.club.type("comment", "films/alien-1979", "In space.")
        self.until_text("#thread", "In space.")
        self.browser.run("history.back()")
        self.browser.until("document.querySelectorAll('.item').length === 6 && document.querySelector('#lists').offsetParent")
        self.until_address("/films?f.genre=horror")
        self.assertEqual(self.browser.run("return document.activeElement.textContent"), "Alien", "where one was")

    def test_an_address_is_all_that_a_page_needs(self):
        self.open("films/the-godfather-1972")
        self.until_text("#detail h2", "The Godfather")
        self.until_text("title", "The Godfather · Film club")
        self.browser.click("#detail a.back")
        self.browser.until("document.querySelectorAll('.item').length === 30")
        self.browser.type("#search", "alien")
        self.until_address("/films?q=alien")
        self.browser.until("document.querySelectorAll('.item').length < 30")
        self.browser.click("#clear-search")
        self.until_address("/films")
        self.browser.until("document.querySelectorAll('.item').length === 30")
        self.open("films/nothing")
        self.until_text("#detail h2", "There is no such item")
        self.until_text("#state", "live")
        self.assertEqual(self.browser.run("return document.querySelector('#message').hidden"), True, "it is said once")
        self.browser.open(self.club.url + "nothing")
        self.until_text("#problems", "There is no “nothing” here.")
        self.until_text("#state", "trying again…")

    def test_filters_are_steps_that_back_takes_back(self):
        self.open("films")
        self.browser.until("document.querySelectorAll('.item').length === 30")
        self.browser.run("document.querySelectorAll('.filter')[0].click()")
        self.browser.until("location.search.startsWith('?f.')")
        self.browser.run("history.back()")
        self.browser.until("location.search === '' && !document.querySelector('.filter :checked')", why="as it was")

    def test_what_an_item_has_is_shown_as_what_it_is(self):
        self.open("shelf/emma")
        self.until_text("#detail h2", "Emma")
        self.until_text("#detail .prose h3", "Emma", why="markdown has its headings, below those of the page")
        found = self.browser.run("""const prose = document.querySelector('.prose');
            return [prose.querySelector('em').textContent, prose.querySelectorAll('b').length, prose.textContent.includes('<b>HTML</b>'),
                [...prose.querySelectorAll('a')].map(link => link.href), prose.querySelectorAll('img').length]""")
        self.assertEqual(found, ["novel", 0, True, ["https://example.org/", "https://example.org/x.png"], 0])
        self.until_text("#detail .facts", "A 3", why="fields with details are there")
        self.until_text("#detail .facts", "474 pages")
        self.club.type("put", "shelf/emma", "pages=1474", "--component", "books")
        self.until_text("#detail .facts", self.browser.run("return (1474).toLocaleString()") + " pages", why="a quantity, not a year")
        here = self.browser.run("return new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'short'})"
                                ".format(new Date('2026-07-01T22:30:00Z'))")
        self.until_text("#detail time", here, why="in the reader's zone, with hours")
        self.browser.until("document.querySelector('#detail img').naturalWidth === 1", why="its picture")
        self.assertTrue(self.browser.run("return document.querySelector('#talk').hidden"), "nobody votes or talks here")
        self.assertEqual(self.browser.complaints(), [])
        self.open("shelf/a%2Fb%20c")
        self.until_text("#detail h2", "A/B c")

    def test_pictures_from_elsewhere_are_shown_from_a_named_origin_alone(self):
        for item, origin in (("zz-far", self.origins[1]), ("zz-near", self.origins[0])):
            self.club.type("put", f"shelf/{item}", f"title={item}", f"cover={origin}/{item}.png", "--component", "books")
        self.addCleanup(self.club.type, "remove", "shelf/zz-far", "shelf/zz-near")
        self.open("shelf/zz-far")
        self.until_text("#detail h2", "zz-far")
        self.browser.until("document.querySelector('#detail img').hidden", why="it is not shown, nor asked for")
        self.assertIn("violates", "".join(self.browser.complaints()))
        self.open("shelf/zz-near")
        self.browser.until("document.querySelector('#detail img').naturalWidth === 1")
        self.assertEqual({path for _, path in Pictures.asked}, {"/zz-near.png"})

    def test_a_search_an_order_and_what_is_entered_stand_in_the_address(self):
        self.open("films?q=godfather&sort=year")
        self.until_rows("the-godfather-1972,the-godfather-part-ii-1974")
        self.assertEqual(self.browser.run("return document.querySelector('#sort').value"), "year")
        self.browser.run("const sort = document.querySelector('#sort'); sort.value = '-year'; sort.onchange()")
        self.until_rows("the-godfather-part-ii-1974,the-godfather-1972")
        self.until_address("/films?q=godfather&sort=-year")
        self.browser.reload()
        self.until_rows("the-godfather-part-ii-1974,the-godfather-1972", why="who loads it again sees the same")

    def test_scopes_are_tabs_and_items_are_entered(self):
        self.open("shelf")
        self.until_rows("a/b c,emma,works", why="those at the top")
        self.browser.click("#scopes .tab:nth-child(2)")
        self.until_text(".list", "No papers yet.")
        self.until_address("/shelf?scope=papers")
        self.browser.run("history.back()")
        self.until_rows("a/b c,emma,works")
        self.browser.run("document.querySelector(\".item[data-id='works'] .more button\").click()")
        self.until_rows("works-1,works-2")
        self.until_text("#crumbs", "Works")
        self.until_address("/shelf?in=works")
        self.browser.reload()
        self.until_rows("works-1,works-2", why="a link leads into it")
        self.browser.click("#crumbs .back")
        self.until_rows("a/b c,emma,works")

    def test_who_chooses_an_item_is_heard(self):
        before = self.club.ask("status")["sequence"]
        self.open("shelf/emma")
        self.browser.until("document.querySelector('#detail .actions button:not([hidden])')?.textContent === 'Choose'")
        self.browser.click("#detail .actions button:not([hidden])")
        self.browser.until("true")
        told = self.club.next("shelf.items.taken", before)
        self.assertIn('"emma"', told)

    def test_parts_are_shown_with_what_they_have(self):
        self.open("day")
        self.until_text(".part[data-part='sleep'] h2", "Sleep")
        self.browser.until("document.querySelectorAll('.part').length >= 3")
        self.until_text("#sections", "Day")
        chosen = self.browser.run("return [...document.querySelectorAll('#sections .filter :checked')].length")
        self.assertEqual(chosen, 1, "today is chosen")
        self.assertGreaterEqual(self.browser.run("return document.querySelectorAll('#sections .filter').length"), 7, "also days with nothing")
        self.browser.until("document.querySelector(\".part[data-part='sleep'] .item\") !== null")
        self.club.type("hide", "day", "sleep")
        self.browser.until("document.querySelector(\".part[data-part='sleep']\") === null", why="a part goes")
        self.club.type("show", "day", "sleep")
        self.until_text(".part[data-part='sleep'] h2", "Sleep", why="and comes")

    def test_the_keyboard_is_enough(self):
        self.open("films")
        self.browser.until("document.querySelectorAll('.item').length === 30")
        self.browser.type("body", "\ue004")
        self.assertEqual(self.browser.run("return document.activeElement.className"), "skip", "it comes first")
        self.assertGreaterEqual(self.browser.run("return document.activeElement.getBoundingClientRect().top"), 0, "and is seen then")
        self.browser.type(".skip", "\ue007")
        self.browser.until("document.activeElement.id === 'main'")
        self.browser.type("#main", "\ue004")
        self.browser.until("document.activeElement.closest('main') && document.activeElement.id !== 'main'", why="goes on within the list")
        self.browser.type(".item h3 a", "\ue015")
        self.browser.until("document.activeElement === document.querySelectorAll('.item h3 a')[1]", why="an arrow goes down")
        film = self.browser.run("return document.querySelector('.item').dataset.id")
        self.browser.type(f".item[data-id='{film}'] .stars label input", "\ue014\ue014")
        self.browser.until("document.activeElement.value === '3'", why="arrows go from star to star")
        self.assertEqual(self.club.tally(film)["count"], 0, "and publish nothing")
        self.browser.run("document.activeElement.closest('.item').querySelector('a').focus()")
        self.browser.type(f".item[data-id='{film}'] h3 a", "/")
        self.browser.until("document.activeElement.id === 'search'")


if __name__ == "__main__":
    unittest.main()
