"""Markdown as the gateway reads it, and who waits for that."""
import asyncio
import json
import sys
import threading
import unittest
from unittest import mock

from club import WEB

sys.path.insert(0, str(WEB))
import gateway
import prose
from daemon import Refused
sys.path.remove(str(WEB))


def texts(tree):
    """What a person reads of a tree."""
    return "".join(node if isinstance(node, str) else texts(node[1]) for node in tree)


@unittest.skipIf(prose.PARSER is None, "python3-markdown-it is not installed")
class Prose(unittest.TestCase):
    def test_has_elements_for_what_markdown_has(self):
        tree = prose.tree("# A\n*b* [x](http://y) <b>\n\n- c\n\n" + "_" * 80 + "\n")
        self.assertEqual(tree, [
            ["h1", ["A"]], ["p", [["em", ["b"]], " ", ["a", ["x"], "http://y"], " <b>"]], ["ul", [["li", ["c"]]]], ["hr", []]])

    def test_knows_no_addresses_that_stand_apart(self):
        """A paragraph of them is copied for each of its lines, and once more for each that it has read."""
        self.assertEqual(prose.tree("[x]: y\n[z][x]"), [["p", ["[x]: y", "\n", "[z][x]"]]])
        self.assertNotIn("reference", prose.PARSER.get_active_rules()["block"])

    def test_what_would_nest_without_end_stays_as_it_was_written(self):
        size = prose.MOST_CHARACTERS
        for text in ("_" * (size // 2) + "a" + "_" * (size // 2 - 1), "*" * (size - 1) + "a", "a\n" + "a" + "*" * 64 + "b",
                     "**a " * (size // 8) + "b** " * (size // 8), "*a " * 100 + "b* " * 100):
            self.assertEqual(prose.tree(text), [["pre", [text]]])
        text = "**a " * 20 + "b** " * 20
        self.assertEqual(len(texts(prose.tree(text))), len(text) - 4 * 20 - 1)
        with mock.patch.object(prose.PARSER, "parse", side_effect=RecursionError):
            self.assertEqual(prose.tree("*a*"), [["pre", ["*a*"]]])

    def test_runs_in_code_and_rules_are_no_emphases(self):
        run = "*" * 80
        self.assertEqual(prose.tree(f"```\n/{run}/\n```\n"), [["pre", [["code", [f"/{run}/\n"]]]]])
        self.assertEqual(prose.tree(f"a\r\n\r\n{run}\r\n"), [["p", ["a"]], ["hr", []]])

    def test_so_much_of_a_text_is_read(self):
        size = prose.MOST_CHARACTERS
        text = "*a*\n\n" * size
        tree = prose.tree(text)
        self.assertEqual(tree[0], ["p", [["em", ["a"]]]])
        self.assertEqual(tree[-1], ["pre", [text[len(tree[:-1]) * 5:]]])
        self.assertLess(size - 5, len(tree[:-1]) * 5 + 1)
        for text in ("x" * size * 2, "x\n" * size, "x" * (size + 1), "x" * size):
            head, rest = prose.parts(text)
            self.assertEqual((head + rest, len(head)), (text, size))

    def test_a_person_has_one_text_in_work_and_others_get_their_turn(self):
        begun, first, go = [], threading.Event(), threading.Event()

        def encoded(text):
            begun.append(text)
            first.set()
            go.wait(20)
            return json.dumps(text)

        async def read():
            reading = gateway.Reading()
            asked = [asyncio.create_task(reading.read("ann", f"ann {number}")) for number in range(gateway.MOST_TEXTS)]
            asked.append(asyncio.create_task(reading.read("bob", "bob")))
            await asyncio.to_thread(first.wait, 20)
            with self.assertRaises(Refused) as refused:
                await reading.read("ann", "one more")
            self.assertEqual(refused.exception.status, 429)
            go.set()
            found = await asyncio.gather(*asked)
            self.assertFalse(reading.lines or reading.waiting)
            await reading.end(None)
            return found

        with mock.patch.object(prose, "encoded", encoded):
            found = asyncio.run(read())
        self.assertEqual(begun[:2], ["ann 0", "bob"])
        self.assertEqual(found, [json.dumps(f"ann {number}") for number in range(gateway.MOST_TEXTS)] + ['"bob"'])


if __name__ == "__main__":
    unittest.main()
