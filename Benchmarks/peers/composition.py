"""What composition costs: a click that four parts follow, and a source that a thousand screens ask the same.

What a delegate costs that changes nothing is counted: see instructions.py.
"""
import http.server
import itertools
import json
import threading

import atrium
import movies
import screens
from figures import Case, Row, column, measure, say

PARTS = [f"part{number}" for number in range(1, 5)]
SCREENS = 1_000
SOURCE = "org.atrium.remote"


def start_with_parts():
    """A daemon whose container has four as large as parts, which follow its genre."""
    server, client = screens.start()
    named = "container: movies\n"
    for part in PARTS:
        text = screens.DEFINITION.replace(named, f"container: {part}\n")
        apply(client, part, text)
        client.put(part, itertools.islice(movies.items(movies.open_database()), screens.ITEMS))
    apply(client, "movies", screens.DEFINITION + "".join(
        f"  - {{ name: {part}, container: {part}, follow: {{ genre: genre }} }}\n"
        for part in PARTS))
    return server, client


def apply(client, name, text):
    client.call("org.atrium.Containers.Apply",
                definitions=[{"file": f"{name}.yaml", "text": text}])


class Service(http.server.BaseHTTPRequestHandler):
    """Ten items for whoever asks."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        self.server.questions += 1
        body = json.dumps([{"id": f"i{number}", "title": f"Item {number}"}
                           for number in range(10)]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Says nothing."""


def questions():
    """How often a source is asked for what a thousand screens show."""
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    service.questions = 0
    threading.Thread(target=service.serve_forever, daemon=True).start()
    server = atrium.start(settings=f"networkPlugins: [{SOURCE}]\n")
    client = atrium.Client(server)
    apply(client, "asked", f"""atrium: 1
container: asked
fields: {{ title: {{ type: text }} }}
components:
  - name: list
    plugin: {SOURCE}
    settings: {{ url: "http://127.0.0.1:{service.server_port}/", ask: {{ search: q }} }}
""")
    opening = atrium.frame("org.atrium.Screens.Open", container="asked").replace(
        b'{"method"', b'{"more":true,"method"')
    readers = [atrium.Client(server) for _ in range(SCREENS)]
    for reader in readers:
        reader.connection.sendall(opening)
    for reader in readers:
        shown = reader.receive()
        while b'"i9"' not in shown:
            shown = reader.receive()
    server.stop()
    service.shutdown()
    service.server_close()
    return {"questions": service.questions}


def run(rounds):
    click = screens.Clicks(start_with_parts)
    cases = [Case("click", click.run)]
    figures = [("click", "a click that four parts of 60,000 items follow: p50", "p50", "ms", None),
               ("click", "a click that four parts of 60,000 items follow: p99", "p99", "ms", 5)]
    plugins = click.client.call("org.atrium.Plugins.List")["plugins"]
    if any(plugin["id"] == SOURCE for plugin in plugins):
        cases.append(Case("asked", questions))
        figures.append(("asked", f"questions of {SCREENS:,} screens that show the same of a source",
                        "questions", "questions", 1))
    else:
        say(f"  there is no plugin {SOURCE}: nothing is asked")
    got = measure(cases, rounds)
    return [Row("composition", what, unit, column(got[name], key), aim=aim)
            for name, what, key, unit, aim in figures]
