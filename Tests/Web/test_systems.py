"""The systems of docs/systems in the page. SCREENSHOTS names the folder for a picture of each."""
import datetime
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from club import EXAMPLES, PATIENCE, Club
from webdriver import Browser

ROWS = "[...document.querySelectorAll('.item')].filter(row => row.offsetParent)"


class Systems(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.club = Club()
        cls.addClassCleanup(cls.club.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.pictures = pathlib.Path(os.environ.get("SCREENSHOTS") or scratch.name)

    def setUp(self):
        self.browser.size(1200, 760)
        self.browser.prefers("light")

    def lay_down(self, system):
        """An example in a folder of its own, whose definitions know where they are."""
        folder = self.club.home / system
        folder.mkdir()
        for file in (EXAMPLES / system).iterdir():
            if file.is_file():
                (folder / file.name).write_text(file.read_text().replace(f"/srv/{system}", str(folder)))
                (folder / file.name).chmod(file.stat().st_mode)
        return folder

    def open(self, path):
        self.browser.open(self.club.url + path)
        self.browser.until("document.querySelector('#state').dataset.is === 'live'", why=f"{path} is live")

    def until_text(self, selector, text, why=""):
        self.browser.until("document.querySelector(args[0])?.textContent.includes(args[1])", selector, text, why=why)

    def until_rows(self, count, why=""):
        self.browser.until(f"{ROWS}.length === args[0]", count, why=why)

    def picture(self, name):
        self.browser.screenshot(self.pictures / f"{name}.png")
        self.assertEqual(self.browser.run("return document.documentElement.scrollWidth <= innerWidth"), True, name)

    def test_films(self):
        self.club.fill()
        self.open("films?f.genre=crime&f.rating=8%2B")
        self.browser.until("document.querySelectorAll('#sections .filter :checked').length === 2")
        self.until_text("#sections", "Duration")
        self.picture("films")
        self.browser.click("#clear")
        self.until_text(".bar", "30 of 125", "none selected shows all")

    def test_compilation(self):
        folder = self.lay_down("compilation")
        self.club.type_of(str(folder / "make-tracks"), str(folder))
        self.club.type("apply", "-f", str(folder / "compilation.yaml"))
        self.open("compilation")
        self.until_rows(9)
        self.browser.until(f"{ROWS}[0].querySelector('img')?.naturalWidth === 64", why="covers come from the files")
        self.browser.run("document.querySelectorAll('#sections .filter input')[0].click()")
        self.until_rows(3, "folk alone")
        self.browser.until("document.querySelector('#message').textContent !== ''", why="the delegate says what was chosen")
        self.browser.click("#vote label:nth-of-type(4)")
        self.until_text("#bars", "4 ★1", "the compilation itself is voted on")
        self.picture("compilation")
        self.browser.click(".item:nth-child(2) h3 a")
        self.until_text("#detail .facts", "Nine Tones", "details come with the track")
        self.browser.click("#vote label:nth-of-type(5)")
        self.until_text("#bars", "5 ★1")
        self.browser.until("document.querySelector('#detail img').naturalWidth === 64")

    def test_people(self):
        folder = self.lay_down("people")
        self.club.type("apply", "-f", str(folder))
        self.open("followers")
        self.browser.until(f"{ROWS}.length > 0")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('button')].filter(one => one.offsetParent"
                                          " && one.textContent === 'Choose').length"), 0, "to choose somebody means nothing here")
        self.open("search")
        self.browser.until(f"{ROWS}.length > 0", why="those one knows")
        self.browser.type("#search", "zzz")
        self.until_text(".list", "Nobody of that name.")
        self.browser.click("#clear-search")
        self.browser.until("location.search === ''")
        self.browser.type("#search", "el")
        self.until_text(".list h2", "Found")
        self.browser.until(f"{ROWS}.length > 1")
        self.picture("people")
        self.browser.run(f"[...{ROWS}[0].querySelectorAll('button')].find(one => one.textContent === 'Choose').click()")
        self.browser.until_at("/person/")  # It leads on to the person.
        self.until_text("h1", "Person")
        self.browser.until("document.querySelector('#detail h2')")

    def test_day(self):
        folder = self.lay_down("day")
        self.club.type_of(str(folder / "make-days"), str(folder))
        self.club.type("apply", "-f", str(folder))
        self.open("day")
        self.browser.until("document.querySelector(\".part[data-part='sleep'] .item\")")
        before = self.browser.run("return document.querySelector(\".part[data-part='sleep'] .items\").textContent")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('#sections .filter')].map(one =>"
                                          " one.querySelector('b')).filter(one => !one.hidden || one.textContent).length"),
                         0, "nobody counts what a calendar above other containers would show")
        self.picture("day")
        # This week's last day, which is today on a Sunday; then its first.
        place = 0 if datetime.datetime.now(datetime.timezone.utc).weekday() == 6 else -1
        self.browser.run("""[...document.querySelectorAll('#sections .filter')].filter(one =>
            !one.querySelector(':checked') && !one.textContent.startsWith('Today')).at(arguments[0]).querySelector('input').click()""", place)
        self.browser.until("document.querySelector(\".part[data-part='sleep'] .items\")?.textContent !== args[0]", before,
                           why="another day is chosen for all")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.part .sections')].filter(one => one.offsetParent).length"), 0,
                         "what goes with the calendar needs no calendar of its own")
        # Yesterday, on which make-days has two walks and a visit; today has one walk and no visit.
        self.open("day")
        walks, visits = ".part[data-part='walks'] .item", ".part[data-part='visits']"
        self.browser.until("document.querySelectorAll(args[0]).length === 1 && !document.querySelector(args[1])", walks, visits, why="today")
        yesterday = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=1)
        if yesterday.weekday() < 6:  # Sunday was last week.
            self.open(f"day?f.day={yesterday}")
            self.browser.until("document.querySelectorAll(args[0]).length === 2", walks, why="the walks follow")
            self.browser.until("document.querySelector(args[0])?.offsetParent", visits + " .item", why="visits are shown where there are any")
        self.open("sleep")
        self.browser.until("document.querySelector('#sections .filter').offsetParent", why="alone it has its own")
        self.open("overview")
        self.browser.until("document.querySelector(\".part[data-part='summary'] .item\")", why="one child stands in two parents")

    def test_stations(self):
        folder = self.lay_down("stations")
        service = subprocess.Popen(["/usr/bin/python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (service.kill(), service.wait(PATIENCE), service.stdout.close()))
        port = re.search(r"port (\d+)", service.stdout.readline())[1]
        definition = folder / "stations.yaml"
        definition.write_text(definition.read_text().replace("8473", port))
        self.club.type("apply", "-f", str(definition))
        self.open("stations")
        self.until_rows(6)
        self.until_text(".item[data-id='central'] .facts", "Sat, Jun 1, 1974", "a day has no hours")
        self.until_text("#of-items", "on its entries", "nothing is said of the container itself")
        self.browser.until("document.querySelector('#comments').hidden && document.querySelector('#open-talk').hidden")
        self.until_text("#sections fieldset:nth-of-type(3)", "3 with none", "filters of the other tab are folded up")
        self.browser.until("document.querySelector(\".item[data-id='central'] .more button\").textContent === '2 entries inside'")
        self.browser.click(".item[data-id='central'] .more button")
        self.until_rows(2, "the lifts in it")
        self.until_text("#crumbs", "Central Station")
        self.browser.click("#scopes .tab:nth-child(2)")
        self.until_rows(5, "those of all stations")
        self.until_text(".item:nth-child(1) .quiet", "Central Station")
        self.browser.run("[...document.querySelectorAll('.filter')].find(one => one.textContent.startsWith('out of order')).querySelector('input').click()")
        self.until_rows(1)
        self.browser.click("#clear")
        self.until_rows(5)
        self.picture("stations")
        (folder / "lifts.json").write_text((folder / "lifts.json").read_text().replace("out of order", "works"))
        self.club.type("refresh", "stations")
        self.until_text(".item:nth-child(2) .facts", "works", "it is live")
        self.browser.click(".item:nth-child(2) h3 a")
        self.until_text("#detail h2", "U1 to U2")
        self.browser.until("document.querySelector('#whole').hidden", why="one way back is enough")

    def test_directory(self):
        folder = self.lay_down("directory")
        service = subprocess.Popen(["/usr/bin/python3", str(folder / "service"), "0"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (service.kill(), service.wait(PATIENCE), service.stdout.close()))
        address = service.stdout.readline().strip()
        for file in folder.glob("*.yaml"):
            file.write_text(file.read_text().replace("http://127.0.0.1:8471", address))
        self.club.type("apply", "-f", str(folder))
        self.open("directory")
        self.until_text("#scopes", "Organisations")
        self.until_rows(7)
        self.browser.type("#search", "mel")
        self.browser.until("location.search === '?q=mel'")
        self.until_rows(3, "the service was asked: Amélie, Camelia and Melina")
        self.browser.click("#clear-search")
        self.browser.click("#scopes .tab:nth-child(2)")
        self.until_text(".list h2", "Organisations")
        self.browser.until(f"{ROWS}.length > 0")
        self.picture("directory")
        self.browser.run(f"[...{ROWS}[0].querySelectorAll('button')].find(one => one.textContent === 'Enter').click()")
        self.until_text("#crumbs", "City Clinic")
        self.until_text(".list h2", "Units", why="the same place shows another source")
        self.browser.click("#crumbs .back")
        self.until_text(".list h2", "Organisations")
        choose = f"{ROWS}.some(row => [...row.querySelectorAll('button')].some(one => one.textContent === 'Choose' && one.offsetParent))"
        self.assertFalse(self.browser.run(f"return {choose}"), "to choose an organisation leads nowhere")
        self.browser.type("#search", "ar")
        self.until_text(".list h2", "Units found")
        self.until_rows(2, "Archive and Pharmacy")
        self.browser.click("#clear-search")
        self.until_text(".list h2", "Organisations")
        self.browser.click("#scopes .tab:nth-child(1)")
        self.until_rows(7)
        first = self.browser.run(f"const [row] = {ROWS}; return [row.querySelector(':scope > p').textContent, row.querySelector('.facts').textContent]")
        self.assertNotIn(first[0], first[1], "what stands below the name stands there once")
        (folder / "mood").write_text("failing")
        self.browser.type("#search", "bao")
        self.until_text(".list", "answers 503", "the service fails, and the page says so")
        (folder / "mood").unlink()
        self.club.type("refresh", "directory")
        self.until_rows(1, "and then it answers")
        self.browser.until(choose)
        self.browser.run(f"[...{ROWS}[0].querySelectorAll('button')].find(one => one.textContent === 'Choose').click()")
        self.browser.until_at("/colleague/bao")
        self.until_text("#detail h2", "Nguyễn Bảo")


if __name__ == "__main__":
    unittest.main()
