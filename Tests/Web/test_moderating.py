"""Moderation in the page: what the author sees, the queue, and what a moderator does about it."""
import unittest

from club import EXAMPLES, Club
from webdriver import Browser

FILM = "alien-1979"


class Moderating(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Who is who a proxy says: here the browser, in each of its requests.
        cls.club = Club("--proxy", "127.0.0.1", "--user-header", "X-User", "--moderator", "ada")
        cls.addClassCleanup(cls.club.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.club.fill()
        definition = self.club.home / "moderated.yaml"
        text = (EXAMPLES / "films.yaml").read_text()
        talk = "settings: { subjects: [items, container] } }"
        assert f"org.atrium.threads, {talk}" in text
        definition.write_text(text.replace(f"org.atrium.threads, {talk}", "org.atrium.threads, settings: { moderated: true } }"))
        self.club.type("apply", "-f", str(definition))

    def come_as(self, name):
        """Opens the film as somebody."""
        self.browser.request("POST", "/goog/cdp/execute", {"cmd": "Network.enable", "params": {}})
        self.browser.request("POST", "/goog/cdp/execute", {
            "cmd": "Network.setExtraHTTPHeaders", "params": {"headers": {"X-User": name}}})
        self.browser.open("about:blank")
        self.browser.open(f"{self.club.url}films/{FILM}")
        self.browser.until("document.querySelector('#detail h2') && document.querySelector('#subject').textContent === 'Alien'")

    def until_text(self, selector, text, why=""):
        self.browser.until("document.querySelector(args[0])?.textContent.includes(args[1])", selector, text, why=why)

    def post(self, text):
        self.browser.type("#text", text)
        self.browser.click("#compose .main")
        self.until_text("#thread", text, why="its author sees it")
        self.until_text("#thread", "waits for a moderator")

    def test_a_comment_waits_and_is_approved_or_removed_with_a_reason(self):
        self.come_as("bob")
        self.post("In space.")
        self.post("Buy this.")
        self.assertTrue(self.browser.run("return document.querySelector('#open-queue').hidden"), "he is no moderator")
        status, reply = self.club.call("Pending", {"container": "films"}, self.club.cookie())
        self.assertEqual((status, reply["error"]), (403, "Forbidden"))

        self.come_as("ada")
        self.until_text("#open-queue", "Waiting (2)")
        self.assertEqual(self.browser.run("return document.querySelectorAll('#thread .comment').length"), 0, "others see nothing")
        self.browser.click("#open-queue")
        self.until_text("#waiting li:nth-child(1)", "In space.")
        self.until_text("#waiting li:nth-child(1)", "bob on ")
        self.browser.click("#waiting li:nth-child(1) .main")
        self.until_text("#thread", "In space.", why="it is shown to all")
        self.until_text("#open-queue", "Waiting (1)")
        self.until_text("#waiting li:nth-child(1)", "Buy this.")
        self.browser.click("#waiting li:nth-child(1) .deciding > button:nth-of-type(2)")
        self.browser.type("#waiting li:nth-child(1) .deciding input", "No advertising.")
        self.browser.click("#waiting li:nth-child(1) .deciding form button")
        self.until_text("#queue-title", "No comment waits")

        self.come_as("bob")
        self.until_text("#thread", "removed by a moderator: No advertising.")
        self.until_text("#thread", "In space.")
        self.come_as("eve")
        self.until_text("#thread", "In space.")
        self.assertNotIn("advertising", self.browser.run("return document.querySelector('#thread').textContent"))

    def ask(self, name, user, **parameters):
        """What the gateway answers somebody."""
        status, reply = self.club.call(name, parameters, None, X_User=user)
        self.assertEqual(status, 200, reply)
        return reply

    def test_what_an_author_changes_is_not_approved_unread(self):
        self.ask("Post", "bob", item=FILM, text="Fine words.", id="changing")
        self.come_as("ada")
        self.until_text("#open-queue", "Waiting (1)")
        self.browser.click("#open-queue")
        self.until_text("#waiting li", "Fine words.")
        # The button that she was about to press, however soon the page hears of the change.
        self.browser.run("window.button = document.querySelector('#waiting .main')")
        self.ask("Edit", "bob", comment="changing", text="Foul words.")
        self.browser.run("window.button.click()")
        self.until_text("#trouble", "Its author changed it")
        self.until_text("#waiting li", "Foul words.")
        self.assertEqual([one["comment"]["text"] for one in self.ask("Pending", "ada")["comments"]], ["Foul words."])
        self.browser.click("#waiting li .main")
        self.until_text("#thread", "Foul words.", why="now she has read it")
        self.until_text("#queue-title", "No comment waits")

    def test_the_queue_goes_on_behind_what_waits_on_removed_items(self):
        self.club.type("put", "films/gone", "title=Gone")
        for number in range(100):
            self.ask("Post", f"guest-{number % 4}", item="gone", text=f"Number {number}.")
        self.ask("Post", "bob", item=FILM, text="Behind them all.", id="behind")
        self.club.type("remove", "films/gone")
        self.come_as("ada")
        self.until_text("#waiting li", "Behind them all.")
        self.browser.click("#open-queue")
        self.browser.click("#waiting li .main")
        self.until_text("#thread", "Behind them all.")


if __name__ == "__main__":
    unittest.main()
