"""The page in a real browser, against a real daemon, with somebody else at `atriumctl`."""
import os
import pathlib
import signal
import tempfile
import unittest

from club import EXAMPLES, Club
from webdriver import Browser

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\u202e"
IDS = "[...document.querySelectorAll('.item')].map(item => item.dataset.id)"


CONTRAST = """
    const parse = color => { const canvas = document.createElement('canvas').getContext('2d');
        canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
    const light = ([r, g, b]) => [r, g, b].map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = element => { for (; element; element = element.parentElement) {
        const color = parse(getComputedStyle(element).backgroundColor); if (color[3] === 255) return color; }
        return [255, 255, 255]; };
    return [...document.querySelectorAll('body *')].filter(element => element.offsetParent && !element.closest('.stars, .unseen') &&
        [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())).map(element => {
            const [text, ground] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
            return [(Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05), element.outerHTML.slice(0, 120)];
        }).filter(([contrast]) => contrast < 4.5)"""


def item(film, rest=""):
    return f".item[data-id='{film}'] {rest}"


def chip(text):
    """Finds the label of a filter, and marks it so that it can be clicked."""
    return f"""const label = [...document.querySelectorAll('.filter')].find(label => label.textContent.startsWith({text!r}));
        label.id = 'wanted'; return label.textContent"""


class ThePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.club = Club()
        cls.addClassCleanup(cls.club.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.club.fill()
        self.browser.size(1360, 900)
        self.browser.open(self.club.url + "-/nothing")
        self.browser.run("sessionStorage.clear()")
        self.browser.complaints()
        self.open()

    def tearDown(self):
        # What one test chose is not there for the next.
        self.browser.open("about:blank")

    def open(self):
        self.browser.open(self.club.url + "films")
        self.browser.until(f"{IDS}.length > 0", why="the list appears")

    def click_filter(self, name):
        self.browser.run(chip(name))
        self.browser.click("#wanted")
        self.browser.run("document.getElementById('wanted').id = ''")

    def until_text(self, selector, text, why=""):
        self.browser.until("document.querySelector(args[0])?.textContent.includes(args[1])", selector, text, why=why)

    def talk_of(self, film):
        self.browser.click(item(film, ".more .talk"))
        self.browser.until("document.querySelector('.item.focused')?.dataset.id === args[0]", film)

    def post(self, text):
        self.browser.type("#text", text)
        self.browser.click("#compose .main")

    def test_a_filter_narrows_the_list_and_the_counts_of_the_others(self):
        total = self.browser.run("return document.querySelector('.bar').textContent")
        self.assertIn("30 of 125", total)
        self.click_filter("western")
        self.browser.until(f"{IDS}.length === 2", why="two westerns")
        counts = self.browser.run("return [...document.querySelectorAll('.filter')].map(label => label.textContent)")
        self.assertIn("western2", counts)
        self.assertIn("drama80", counts, "a section does not reduce its own counts")
        self.assertIn("8 and up2", counts)
        self.browser.click("#clear")
        self.browser.until(f"{IDS}.length === 30", why="all again")
        self.assertFalse(self.browser.run("return document.querySelector('.filter :checked')"))

    def test_search_and_order(self):
        self.browser.type("#search", "AMELIE")
        self.browser.until(f"{IDS}.join() === 'amelie-2001'", why="found without its accent")
        self.browser.run("document.querySelector('#search').value = ''")
        self.browser.type("#search", "godfather")
        self.browser.run("const sort = document.querySelector('#sort'); sort.value = '-year'; sort.onchange()")
        self.browser.until(f"{IDS}.join() === 'the-godfather-part-ii-1974,the-godfather-1972'", why="the later first")

    def test_more_of_the_list(self):
        self.browser.run("document.querySelector('.list > p button').scrollIntoView()")
        self.browser.until(f"{IDS}.length >= 60", why="a longer list for who comes to its end")
        self.browser.run("document.querySelector('.list > p button').scrollIntoView()")
        self.browser.until(f"{IDS}.length >= 90", why="and so on")

    def test_a_vote_from_elsewhere_is_seen_at_once(self):
        self.assertNotEqual(self.browser.run(f"return {IDS}[0]"), "life-of-brian-1979")
        self.club.type("vote", "films/life-of-brian-1979", "5")
        self.browser.until(f"{IDS}[0] === 'life-of-brian-1979'", why="the best voted comes first")
        self.until_text(item("life-of-brian-1979", ".score"), "5.0 · 1 vote")
        self.club.type("vote", "films/fight-club-1999", "5")
        self.browser.until(f"{IDS}[0] === 'fight-club-1999'", why="one that was further down moves up")
        films = self.club.ask("list", "films", "--sort", "-votes.score,-rating", "--limit", "30")["items"]
        self.assertEqual(self.browser.run(f"return {IDS}"), [film["id"] for film in films])

    def test_ones_own_vote_and_taking_it_back(self):
        film = "pulp-fiction-1994"
        # With the keyboard: the row moves away under the finger, and the focus goes with it.
        self.club.type("vote", "films/fight-club-1999", "4")
        self.browser.until(f"{IDS}[0] === 'fight-club-1999'")
        self.browser.run("document.querySelector(arguments[0]).focus()", item(film, "input"))
        self.browser.type(item(film, "label:nth-of-type(5) input"), " ")
        self.browser.until(f"{IDS}[0] === args[0]", film, why="it moves to the top")
        self.assertEqual(self.browser.run("return document.activeElement.closest('.item')?.dataset.id"), film)
        self.browser.until("document.querySelectorAll(args[0]).length === 5", item(film, "label.mine"))
        self.assertEqual(self.club.tally(film)["histogram"], {"5": 1})
        self.browser.click(item(film, "label:nth-of-type(2)"))
        self.until_text(item(film, ".score"), "2.0 · 1 vote")
        self.browser.click(item(film, ".vote button"))
        self.browser.until("document.querySelector(args[0]).textContent === ''", item(film, ".score"))
        self.assertEqual(self.club.tally(film)["count"], 0)

    def test_what_one_may_vote_and_write_follows_from_the_definition(self):
        definition = (self.club.home / "narrow.yaml")
        text = (EXAMPLES / "films.yaml").read_text()
        stars, talk = "plugin: org.atrium.stars", "plugin: org.atrium.threads"
        self.assertTrue(stars in text and talk in text)

        def apply(vote, comment):
            lines = [line for line in text.splitlines() if stars not in line and talk not in line]
            place = next(at for at, line in enumerate(lines) if line.startswith("components:")) + 1
            lines[place:place] = [
                f"  - {{ name: stars, {stars}, settings: {{ {vote} }} }}",
                f"  - {{ name: talk, {talk}, settings: {{ {comment} }} }}"]
            definition.write_text("\n".join(lines) + "\n")
            self.club.type("apply", "-f", str(definition))

        film = self.browser.run(f"return {IDS}[0]")
        apply("scale: 7", "maxLength: 3, moderated: true")
        self.browser.until("document.querySelectorAll(args[0]).length === 7", item(film, ".stars label"))
        self.browser.until("!document.querySelector('#moderated').hidden")
        self.browser.run("document.querySelector('#text').value = '👍👍👍'; document.querySelector('#text').oninput()")
        self.assertTrue(self.browser.run("return document.querySelector('#text').checkValidity()"))
        self.browser.run("document.querySelector('#text').value += '!'; document.querySelector('#text').oninput()")
        self.assertFalse(self.browser.run("return document.querySelector('#text').checkValidity()"))

        apply("scale: 5, step: 0.5, subjects: [items]", "subjects: [items]")
        self.browser.until("document.querySelectorAll(args[0]).length === 8", item(film, ".stars .half"))
        self.browser.click(item(film, ".stars .half:nth-of-type(8)"))
        self.until_text(item(film, ".score"), "4.5 · 1 vote")
        self.browser.until("document.querySelector('#tally').hidden && document.querySelector('#compose').hidden")
        apply("scale: 10", "subjects: [items]")
        self.browser.until("document.querySelectorAll(args[0]).length === 10", item(film, ".stars label:not(.half)"))

    def test_a_thread_is_live_and_one_may_join_it(self):
        film = "alien-1979"
        self.club.type("vote", f"films/{film}", "4")
        self.club.type("comment", f"films/{film}", "In space.", "--id", "first")
        self.talk_of(film)
        self.until_text("#subject", "Alien")
        self.until_text("#thread", "In space.")
        self.until_text("#bars", "4 ★1")
        self.club.type("reply", "films", "first", "Nobody hears.")
        self.until_text("#thread .comment:nth-child(2)", "Nobody hears.", why="a reply from elsewhere")
        self.browser.click("#thread .comment:nth-child(1) button")
        self.until_text("#about", "Your reply to")
        self.post("I did.\nTwice.")
        self.until_text("#thread .comment:nth-child(3)", "you just now")
        self.browser.until("document.querySelector('#text').value === ''", why="the revision may come before the reply")
        thread = self.club.ask("thread", f"films/{film}")["comments"]
        self.assertEqual([(one["text"], one["depth"]) for one in thread],
                         [("In space.", 0), ("Nobody hears.", 1), ("I did.\nTwice.", 1)])
        self.until_text(item(film, ".more"), "3 comments")
        self.browser.click("#whole")
        self.until_text("#subject", "Film club")
        self.browser.until("document.querySelectorAll('.comment').length === 0", why="nobody spoke of the club yet")
        self.post("Thursdays?")
        self.until_text("#thread", "Thursdays?")
        self.assertEqual(self.club.ask("thread", "films")["total"], 1)

    def test_what_others_write_is_text(self):
        film = "alien-1979"
        self.club.type("put", f"films/{film}", f"title={HOSTILE}", "rating=10", f"genres={HOSTILE}")
        self.club.type("comment", f"films/{film}", HOSTILE)
        self.club.type("comment", f"films/{film}", "x" * 3000)
        self.browser.until(f"{IDS}[0] === args[0]", film)
        shown = self.browser.run("return document.querySelector(arguments[0]).textContent", item(film, "h3"))
        self.assertEqual(shown, HOSTILE)
        self.talk_of(film)
        self.until_text("#thread .text", HOSTILE)
        self.assertEqual(self.browser.run("return document.querySelector('#subject').textContent"), HOSTILE)
        self.assertIn(HOSTILE + "1", self.browser.run(
            "return [...document.querySelectorAll('.filter')].map(label => label.textContent)"))
        self.assertEqual(self.browser.run("return document.images.length + document.scripts.length"), 1)
        self.assertEqual(self.browser.run("return document.title"), "Film club")
        self.assertEqual(self.browser.complaints(), [], "the policy had something to refuse")
        self.assert_fits(1360)

    def test_a_phone_shows_all_of_it_without_scrolling_aside(self):
        film = "alien-1979"
        self.browser.size(390, 844, mobile=True)
        self.club.type("comment", f"films/{film}", "In space.")
        self.club.type("put", "films/a-1", "title=" + "Donaudampfschifffahrtsgesellschaft" * 4, "rating=10")
        self.open()
        self.assert_fits(390)
        self.browser.click("summary")
        self.click_filter("horror")
        self.browser.until(f"{IDS}.length === 6")
        self.assert_fits(390)
        self.browser.click("summary")
        self.browser.until("document.querySelector('summary').textContent === 'Filters (1 selected)'")
        self.talk_of(film)
        self.until_text("#thread", "In space.")
        self.assert_fits(390)
        self.browser.click("#close-talk")
        opener = self.browser.run("return document.activeElement.closest('.item')?.dataset.id")
        self.assertEqual(opener, film, "one is where one was")

    def test_a_busy_club_looks_well(self):
        """What the README shows: SCREENSHOTS names the folder for it."""
        guests = [self.club.cookie() for _ in range(5)]
        film = "the-godfather-1972"
        for place, (name, values) in enumerate({film: [5, 5, 4, 5], "alien-1979": [5, 4], "fargo-1996": [4, 4, 5],
                                                "12-angry-men-1957": [5, 4, 4], "chinatown-1974": [4, 3]}.items()):
            for guest, value in zip(guests[place % 2:], values):
                self.assertEqual(self.club.call("Cast", {"item": name, "value": value}, guest)[0], 200)
        for guest, comment, parent, text in (
                (0, "offer", None, "An offer nobody refuses."), (1, "knew", "offer", "I know someone who did."),
                (2, "horse", "knew", "And his horse?"), (3, "oranges", None, "Count the oranges.")):
            call = {"item": film, "id": comment, "text": text} | ({"parent": parent} if parent else {})
            self.assertEqual(self.club.call("Post", call, guests[guest])[0], 200)
        self.click_filter("crime")
        self.until_text(".bar", "30 in all")
        self.browser.click(item(film, "label:nth-of-type(5)"))
        self.until_text(item(film, ".score"), "4.8 · 5 votes")
        self.talk_of(film)
        self.until_text("#thread", "Count the oranges.")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(os.environ.get("SCREENSHOTS") or folder)
            for name, scheme in (("web.png", "light"), ("web-dark.png", "dark")):
                self.browser.prefers(scheme)
                self.assert_readable()
                self.browser.screenshot(folder / name)
            self.browser.prefers("light")
            self.browser.size(390, 844, mobile=True)
            self.browser.reload()
            self.until_text(".bar", "30 in all", why="a page that is loaded again shows what was chosen")
            self.browser.screenshot(folder / "web-phone.png")
            self.assertGreater((folder / "web-phone.png").stat().st_size, 10_000)

    def assert_readable(self):
        """All text stands out from what is behind it by 4.5 to 1, as WCAG's AA has it."""
        faint = self.browser.run(CONTRAST)
        self.assertEqual(faint, [])

    def assert_fits(self, width):
        """Nothing is cut off or needs scrolling aside; a phone would shrink the page instead."""
        wide = self.browser.run("""return [...document.querySelectorAll('body *')].filter(element =>
            !element.closest('.unseen') && element.getBoundingClientRect().right > arguments[0] + 1)
            .map(element => element.outerHTML.slice(0, 200))""", width)
        self.assertEqual(wide, [])
        self.assertEqual(self.browser.run("return [document.documentElement.scrollWidth, innerWidth]"), [width, width])

    def test_a_restarted_daemon_is_found_again_with_all_that_was_chosen(self):
        self.talk_of(self.browser.run(f"return {IDS}[0]"))
        self.click_filter("horror")
        self.browser.until(f"{IDS}.length === 6")
        self.club.stop()
        self.browser.until("document.querySelector('#state').dataset.is === 'lost'", why="it says that it is not live")
        self.club.start()
        self.browser.until("document.querySelector('#state').dataset.is === 'live'", why="it is live again")
        self.browser.until(f"{IDS}.length === 6", why="and shows what was chosen")
        self.club.type("vote", "films/get-out-2017", "5")
        self.browser.until(f"{IDS}[0] === 'get-out-2017'", why="and is live indeed")

    def test_many_tabs_are_live(self):
        """A browser has six connections to a gateway: tabs that nobody sees leave them to others."""
        self.talk_of(self.browser.run(f"return {IDS}[3]"))
        self.browser.run("document.querySelector('.list > p button').scrollIntoView()")
        self.browser.until(f"{IDS}.length >= 60")
        first, opened = self.browser.request("GET", "/window", None), []

        def turn_to(handle):
            self.browser.request("POST", "/window", {"handle": handle})
        try:
            for _ in range(7):
                opened.append(self.browser.request("POST", "/window/new", {"type": "tab"})["handle"])
                turn_to(opened[-1])
                self.open()
            self.browser.click(item("fight-club-1999", "label:nth-of-type(5)"))
            self.browser.until(f"{IDS}[0] === 'fight-club-1999'")
        finally:
            for handle in opened:
                turn_to(handle)
                self.browser.request("DELETE", "/window", None)
            turn_to(first)
        self.browser.until(f"{IDS}[0] === 'fight-club-1999' && {IDS}.length >= 60", why="who comes back sees what it is now")
        self.assertTrue(self.browser.run("return document.querySelector('#trouble').hidden"))

    def test_a_gateway_that_hangs_is_told_of(self):
        self.browser.run("const timeout = AbortSignal.timeout.bind(AbortSignal); AbortSignal.timeout = () => timeout(200)")
        self.club.gateway.send_signal(signal.SIGSTOP)
        try:
            self.browser.type("#search", "alien")
            self.until_text("#trouble", "has not answered")
        finally:
            self.club.gateway.send_signal(signal.SIGCONT)

    def test_hidden_components_are_left_out_and_lists_may_be_several(self):
        self.club.type("hide", "films", "stars")
        self.browser.until("![...document.querySelectorAll('.stars')].some(stars => stars.offsetParent)", why="no stars")
        self.club.type("attach", "films", "shorts", "--plugin", "org.atrium.catalog")
        self.browser.until("document.querySelectorAll('.list').length === 2", why="a second list")
        self.club.type("put", "films/a-short-1", "title=A short", "--component", "shorts")
        self.until_text(".list:nth-child(2)", "A short")
        self.club.type("hide", "films", "shorts")
        self.browser.until("document.querySelectorAll('.list').length === 1", why="one list")
        self.club.type("show", "films", "shorts")
        self.browser.until("document.querySelectorAll('.list').length === 2", why="both again")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.list:nth-child(2) .item').length"), 1)
        self.club.type("hide", "films", "filters")
        self.browser.until("document.querySelector('#filters').hidden", why="no filters")


if __name__ == "__main__":
    unittest.main()
