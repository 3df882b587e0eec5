"""The five systems of docs/systems in the page. SCREENSHOTS names the folder for a picture of each."""
import os
import pathlib
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
        self.browser.run("""[...document.querySelectorAll('#sections .filter')]
            .findLast(one => !one.querySelector(':checked') && !one.textContent.startsWith('Today')).querySelector('input').click()""")
        self.browser.until("document.querySelector(\".part[data-part='sleep'] .items\")?.textContent !== args[0]", before,
                           why="another day is chosen for all")
        self.open("overview")
        self.browser.until("document.querySelector(\".part[data-part='summary'] .item\")", why="one child stands in two parents")

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


if __name__ == "__main__":
    unittest.main()
