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

    def apply(self, *changes):
        """The definition of the films, with other words in it."""
        text = (EXAMPLES / "films.yaml").read_text()
        for before, after in changes:
            self.assertIn(before, text)
            text = text.replace(before, after)
        definition = self.club.home / "changed.yaml"
        definition.write_text(text)
        self.club.type("apply", "-f", str(definition))

    def test_a_container_that_is_closed_says_so(self):
        film = self.browser.run(f"return {IDS}[0]")
        self.browser.click(item(film, "label:nth-of-type(4)"))
        self.until_text(item(film, ".score"), "4.0 · 1 vote")
        self.post("Thursdays?")
        self.until_text("#thread", "Thursdays?")
        self.browser.type("#text", "What I was about to say")
        self.club.type("close", "films", "--votes", "--comments")
        self.until_text("#closed-votes", "Closed for votes.")
        self.browser.until("document.querySelector('#closed-votes').offsetParent && document.querySelector('#closed-comments').offsetParent")
        self.until_text(".bar .closed", "closed for votes")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.item .talk')].filter(one => one.offsetParent).length"), 0,
                         "nobody said anything on a film, and nobody may")
        self.browser.until("[...document.querySelectorAll('.stars')].every(stars => stars.disabled)", why="no star is offered")
        self.assertTrue(self.browser.run("return document.querySelector(arguments[0]).disabled", item(film, ".vote button")), "nor undoing")
        self.assertEqual(self.browser.run("return document.querySelectorAll(arguments[0]).length", item(film, "label.mine")), 4,
                         "what one voted is shown")
        buttons = "return [...document.querySelectorAll('#thread .plain')].filter(one => one.offsetParent).map(one => one.textContent)"
        self.assertEqual(self.browser.run(buttons), ["Delete"])
        self.assertTrue(self.browser.run("return document.querySelector('#post').disabled"))
        self.assertEqual(self.browser.run("return document.querySelector('#text').value"), "What I was about to say")
        self.browser.run("document.querySelector('#text').value = ''")
        self.club.type("reopen", "films", "--votes")
        self.browser.until("[...document.querySelectorAll('.stars')].every(stars => !stars.disabled)")
        self.browser.until("document.querySelector('#compose').hidden && document.querySelector('.bar .closed').hidden")
        self.club.type("reopen", "films")
        self.browser.until("!document.querySelector('#compose').hidden && document.querySelector('#closed-comments').hidden")
        self.assertEqual(self.browser.run(buttons), ["Reply", "Edit", "Delete"])

    def test_the_mean_is_shown_and_the_score_ranks(self):
        one, four = "alien-1979", "fargo-1996"
        for film, values in ((one, [5]), (four, [5, 5, 4, 5])):
            for value in values:
                self.assertEqual(self.club.call("Cast", {"item": film, "value": value}, self.club.cookie())[0], 200)
        self.browser.until(f"{IDS}.slice(0, 2).join() === args[0]", f"{four},{one}", why="one vote of 5 is not before four good ones")
        self.until_text(item(one, ".score"), "5.0 · 1 vote")
        self.until_text(item(four, ".score"), "4.8 · 4 votes")
        self.browser.until("document.querySelectorAll(args[0]).length === 5", item(one, "label.mean"))
        parts = "return [...document.querySelectorAll(arguments[0])].map(label => label.style.getPropertyValue('--part'))"
        self.assertEqual(self.browser.run(parts, item(four, "label.mean")), ["", "", "", "", "75%"], "the last star as far as the mean is")
        self.browser.click(item(one, "h3 a"))
        self.until_text("#detail .score", "5.0 · 1 vote")

    def test_votes_against_are_summed(self):
        found = self.browser.run("""const done = arguments[arguments.length - 1];
            return import('/-/page/values.js').then(({ scoreOf }) => [
                scoreOf({ count: 3, score: 1, histogram: { '1': 2, '-1': 1 } }, { min: -1, max: 1, step: 2 }),
                scoreOf({ count: 2, score: 3.1, histogram: { '4': 1, '3': 1 } }, { min: 1, max: 5, step: 1 }),
                scoreOf({ count: 0, histogram: {} }, { min: 1, max: 5, step: 1 }), scoreOf(null, null)])""")
        self.assertEqual(found, ["1.0 · 3 votes", "3.5 · 2 votes", "", ""])

    def test_a_long_section_has_a_box_that_finds_in_it(self):
        find = "#sections fieldset:nth-of-type(1) input[type=search]"
        self.browser.until("document.querySelector(args[0]).offsetParent", find)
        self.assertEqual(self.browser.run("return document.querySelector(arguments[0]).ariaLabel", find), "Find in Genre")
        self.assertIsNone(self.browser.run("return document.querySelector('#sections fieldset:nth-of-type(2) input[type=search]').offsetParent"))
        shown = "[...document.querySelectorAll('#sections fieldset:nth-of-type(1) .filter')].filter(one => one.offsetParent).map(one => one.querySelector('bdi').textContent).join()"
        self.browser.type(find, "WÉS")
        self.browser.until(f"{shown} === 'western'", why="whatever the case and accents")
        self.click_filter("western")
        self.browser.until(f"{IDS}.length === 2")
        self.browser.type(find, "zzz")
        self.until_text("#sections fieldset:nth-of-type(1) .found", "nothing fits")
        self.browser.run("const box = document.querySelector(arguments[0]); box.value = ''; box.oninput()", find)
        self.browser.until(f"{shown}.split(',').length > 8")

    def test_what_is_not_listed_in_a_section_is_found_by_the_daemon(self):
        file = self.club.home / "genres.ndjson"
        file.write_text("".join(f'{{"id":"g-{number}","fields":{{"title":"Odd {number}","genres":["odd-{number:02}"]}}}}\n' for number in range(60)))
        self.club.type("import", "films", str(file))
        find, found = "#sections fieldset:nth-of-type(1) input[type=search]", "#sections fieldset:nth-of-type(1) .found"
        self.until_text("#sections fieldset:nth-of-type(1)", "and 30 more", why="of 80 it lists 50")
        self.browser.type(find, "ODD-5")
        self.browser.until("document.querySelectorAll(args[0]).length === 10", f"{found} .filter", why="ten of them")
        self.browser.run("[...document.querySelectorAll(arguments[0])].find(one => one.textContent.startsWith('odd-57')).click()", f"{found} .filter")
        self.browser.until(f"{IDS}.join() === 'g-57'")
        self.browser.until("document.querySelectorAll(args[0]).length === 0 && document.querySelector(args[1]).value === ''", f"{found} .filter", find)
        self.assertEqual(self.browser.run("return location.search"), "?f.genre=odd-57")
        self.browser.type(find, "zzz")
        self.until_text(found, "nothing fits")

    def test_sections_of_texts_and_ranges_are_typed(self):
        self.apply(("        - id: rating\n", "        - { id: title, title: Words, field: title, input: text }\n"
                    "        - { id: year, title: Year, field: year, input: range }\n        - id: rating\n"))
        words, years = "#sections input[aria-label=Words]", "#sections input[aria-label=Year]"
        self.browser.until("document.querySelector(args[0])?.offsetParent", words)
        self.browser.type(words, "godfather\ue007")
        self.browser.until(f"{IDS}.length === 2")
        self.browser.type(years, "1973..1980\ue007")
        self.browser.until(f"{IDS}.join() === 'the-godfather-part-ii-1974'")
        self.assertEqual(self.browser.run("return decodeURIComponent(location.search)"), "?f.title=godfather&f.year=1973..1980")
        self.browser.click("#clear")
        self.browser.until(f"{IDS}.length === 30")

    def test_more_than_a_thousand_are_scrolled_through(self):
        lines = "".join(f'{{"id":"z-{number:04}","fields":{{"title":"Zed {number:04}"}}}}\n' for number in range(1100))
        file = self.club.home / "many.ndjson"
        file.write_text(lines)
        self.club.type("import", "films", str(file))
        self.browser.open(self.club.url + "films?q=Zed&sort=title")
        self.until_text(".bar", "30 of 1,100")
        self.browser.run("""window.down = setInterval(() => document.querySelector('.list > p button').scrollIntoView(), 20)""")
        self.until_text(".bar", "1100 in all".replace("1100", "1,100"), why="all of them")
        self.browser.run("clearInterval(window.down)")
        ids = self.browser.run(f"return {IDS}")
        self.assertEqual(ids, [f"z-{number:04}" for number in range(1100)])
        self.assertTrue(self.browser.run("return document.querySelector('.list > p button').hidden"))
        self.club.type("put", "films/a-1", "title=A Zed")
        self.browser.until(f"{IDS}.length === 1101 && {IDS}[0] === 'a-1'", why="what moved behind the live ones is read again")
        self.browser.run("const search = document.querySelector('#search'); search.value = 'godfather'; search.oninput()")
        self.browser.until(f"{IDS}.length === 2", why="another search has nothing of it")

    def test_a_thread_of_more_than_a_thousand_goes_on(self):
        film = "alien-1979"
        self.club.say_many(film, 1010)
        self.browser.open(f"{self.club.url}films/{film}")
        self.until_text("#count", "1,010 comments")
        self.browser.run("window.more = setInterval(() => document.querySelector('#older').click(), 50)")
        for count in (100, 400, 1000, 1010):
            self.browser.until("document.querySelectorAll('#thread .comment').length >= args[0]", count, why=f"{count} of them")
        self.browser.run("clearInterval(window.more)")
        texts = self.browser.run("return [...document.querySelectorAll('#thread .text')].map(one => one.textContent)")
        self.assertEqual(texts, [f"Number {number}." for number in range(1010)])
        self.assertTrue(self.browser.run("return document.querySelector('#older').hidden"))

    def test_ones_own_comment_is_edited(self):
        self.post("In spce.")
        self.until_text("#thread", "In spce.")
        self.club.type("comment", "films", "Somebody else's.")
        self.until_text("#thread", "Somebody else's.")
        edit = "[...document.querySelectorAll('#thread .plain')].filter(one => one.offsetParent && one.textContent === 'Edit')"
        self.assertEqual(self.browser.run(f"return {edit}.length"), 1, "one's own alone")
        self.browser.run(f"{edit}[0].click()")
        self.assertEqual(self.browser.run("return document.activeElement.value"), "In spce.")
        self.browser.run("document.querySelector('.editing textarea').value = ''")
        self.browser.type(".editing textarea", "In space.")
        self.browser.click(".editing .main")
        self.until_text("#thread .comment:nth-child(1) .text", "In space.")
        self.until_text("#thread .comment:nth-child(1) time", "edited")
        self.browser.until("document.activeElement.textContent === 'Edit'", why="the focus is where it was")
        self.assertEqual(self.club.ask("thread", "films")["comments"][0]["text"], "In space.")
        self.browser.run(f"{edit}[0].click()")
        self.browser.type(".editing textarea", "No.")
        self.browser.click(".editing .plain")
        self.until_text("#thread .comment:nth-child(1) .text", "In space.", why="left as it was")

    def test_announcements_leave_time_to_listen(self):
        self.browser.run("""window.heard = [];
            new MutationObserver(() => window.heard.push([performance.now(), document.querySelector('#announcer').textContent]))
                .observe(document.querySelector('#announcer'), {childList: true, characterData: true, subtree: true})""")
        for number in range(6):
            self.club.type("put", f"films/one-{number}", "title=One more")
            self.browser.until("document.querySelector('.bar').textContent.includes(args[0])", f"of {126 + number}")
            if number == 4:
                self.browser.until("window.heard.at(-1)?.[1] === '30 of 130'", why="the last of five is said")
        self.browser.until("window.heard.at(-1)?.[1] === '30 of 131'", why="the next one is said later")
        heard = self.browser.run("return window.heard.map(([when]) => when)")
        self.assertGreaterEqual(len(heard), 2)
        self.assertGreaterEqual(min(after - before for before, after in zip(heard, heard[1:])), 4900)

    def test_colours_of_the_readers_own_leave_what_is_chosen_to_be_seen(self):
        film = self.browser.run(f"return {IDS}[0]")
        self.browser.click(item(film, "label:nth-of-type(2)"))
        self.browser.until("document.querySelectorAll(args[0]).length === 2", item(film, "label.mine"))
        self.click_filter("drama")
        self.browser.until("document.querySelector('.filter :checked')")
        emulate = lambda value: self.browser.request("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "forced-colors", "value": value}]}})
        self.addCleanup(emulate, "none")
        emulate("active")
        self.browser.until("matchMedia('(forced-colors: active)').matches")
        self.browser.run("document.activeElement.blur(); document.querySelector('#title').dispatchEvent(new MouseEvent('mouseover'))")
        self.browser.request("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
                                                               "actions": [{"type": "pointerMove", "x": 5, "y": 5}]}]})
        look = """const of = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
            return [of('.filter:has(:checked) span', 'backgroundColor'), of('.filter:not(:has(:checked)) span', 'backgroundColor'),
                of(arguments[0], 'color'), of(arguments[1], 'color')]"""
        self.browser.until("document.querySelector(args[0])", item(film))
        chosen, other, mine, rest = self.browser.run(look, item(film, "label:nth-of-type(2)"), item(film, "label:nth-of-type(3)"))
        self.assertNotEqual(chosen, other, "a filter that is chosen")
        self.assertNotEqual(mine, rest, "one's own stars")

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
