"""A vote by the same rule in a plugin in the daemon, in a worker, and in programs of other languages.

Beside what the worker adds to a vote stands a call to a plugin by go-plugin, which counts the vote, and writes nothing.
"""
import json
import os
import shutil
import subprocess
from pathlib import Path

import atrium
from figures import Case, Row, column, measure, say
from processes import drive, new_directory, request_file

CLIENTS = [1, 50]
KEYS = [("p50", "p50_us", "us"), ("rate", "per_s", "/s"), ("CPU of daemon, worker and program",
                                                           "server_cpu_us", "us")]
# The compiler of each language, the scale that the templates have, and the one that is measured.
LANGUAGES = {"python": None, "rust": "cargo", "go": "go"}
SCALE = '"min": -1, "max": 1, "step": 2'
WANTED = '"min": 1, "max": 5, "step": 1'
GO_PLUGIN = Path(__file__).parent / "goplugin" / "main.go"
# Where Debian's packages of Go libraries are.
GO_LIBRARIES = Path("/usr/share/gocode")
BUILD = {"rust": ["cargo", "build", "--release", "--offline", "--quiet"], "go": ["go", "build"]}


def make(language, folder):
    """A new plugin of the language in the folder, which takes votes of 1 to 5."""
    made = folder / language
    ctl = atrium.stage / "bin" / "atriumctl"
    subprocess.run([ctl, "plugin", "new", "--kind", "votes", "--language", language,
                    "--id", f"org.example.{language}", "--path", made, "Likes"],
                   check=True, stdout=subprocess.DEVNULL)
    for source in filter(Path.is_file, made.rglob("*")):
        if source.suffix in (".py", ".rs", ".go"):
            source.write_text(source.read_text().replace(SCALE, WANTED))
    if language in BUILD:
        subprocess.run(BUILD[language], cwd=made, check=True,
                       env={**os.environ, "CGO_ENABLED": "0"})


def ways():
    """The component's lines of each way that this machine can build."""
    folder = new_directory("plugins")
    yield "Swift, in the daemon", folder, "plugin: org.atrium.stars"
    yield "Swift, in a worker", folder, "plugin: org.atrium.stars, isolation: process"
    for language, compiler in LANGUAGES.items():
        if compiler and not shutil.which(compiler):
            say(f"plugins: {language} is left out: there is no {compiler}")
            continue
        make(language, folder)
        yield f"{language.capitalize()} program", folder, f"plugin: org.example.{language}"


class Votes:
    """A daemon whose votes a plugin takes."""

    def __init__(self, folder, component):
        self.server = atrium.start(settings=f"pluginPath: [{folder}]\n")
        client = atrium.Client(self.server)
        text = atrium.BENCH.replace("plugin: org.atrium.stars, settings: { scale: 5, "
                                    "subjects: [items] }", component)
        client.call("org.atrium.Containers.Apply",
                    definitions=[{"file": "bench.yaml", "text": text}])
        client.put("bench", ({"id": f"i{number}", "fields": {"title": f"Item {number}"}}
                             for number in range(1, atrium.ITEMS + 1)))
        self.request = request_file("vote", '{"method":"org.atrium.Votes.Cast","parameters":'
                                    '{"container":"bench","item":"i%SUBJECT%","value":%VALUE%}}\0')
        # Nobody votes twice alike: the vote that is there already is of another value.
        self.next = atrium.ITEMS

    def run(self, clients):
        result = drive("req", self.server, protocol="varlink", request=self.request,
                       subjects=atrium.ITEMS, connections=clients, seconds=1, first=self.next)
        self.next = result["next"]
        return result

    def memory(self):
        """What the worker and the program hold that nobody shares, in MB; 0 where there is none."""
        total = 0
        for pid in self.server.pids[1:]:
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Private_"):
                    total += int(line.split()[1])
        return total / 1024


def run(rounds):
    votes = {name: Votes(folder, component) for name, folder, component in ways()}
    cases = [Case(f"{name} {clients}", lambda one=one, clients=clients: one.run(clients))
             for name, one in votes.items() for clients in CLIENTS]
    program = go_plugin()
    go_calls = {clients: f"go-plugin {clients}" for clients in CLIENTS} if program else {}
    cases += [Case(name, lambda clients=clients: call_go_plugin(program, clients))
              for clients, name in go_calls.items()]
    got = measure(cases, rounds)
    rows = []
    first, *others = votes
    for clients in CLIENTS:
        for label, key, unit in KEYS:
            many = "1 client" if clients == 1 else f"{clients} clients"
            row = Row("plugins", f"a vote, {many}: {label}", unit,
                      column(got[f"{first} {clients}"], key))
            for name in others:
                row.peers[name] = column(got[f"{name} {clients}"], key)
            rows.append(row)
    row = Row("plugins", "memory of worker and program", "MB", [votes[first].memory()])
    for name in others:
        row.peers[name] = [votes[name].memory()]
    return [*rows, row, *added(got, go_calls, votes)]


def go_plugin():
    """The program that calls a plugin of its own by go-plugin; None where it can't be built."""
    if not shutil.which("go") or not (GO_LIBRARIES / "src/github.com/hashicorp/go-plugin").exists():
        say("plugins: go-plugin is left out: there is no Go, or the library is not installed")
        return None
    program = new_directory("goplugin") / "goplugin"
    subprocess.run(["go", "build", "-o", program, GO_PLUGIN], check=True,
                   env={**os.environ, "CGO_ENABLED": "0", "GO111MODULE": "off",
                        "GOPATH": str(GO_LIBRARIES)})
    return program


def call_go_plugin(program, clients):
    made = subprocess.run([program, str(clients), "1"], check=True, capture_output=True, text=True)
    return json.loads(made.stdout)


def added(got, go_calls, votes):
    """What a worker adds to a vote, beside the call to a plugin by go-plugin."""
    inside, worker = list(votes)[:2]
    rows = []
    for clients in CLIENTS:
        for label, key, unit in KEYS:
            if key == "per_s":
                continue
            many = "1 client" if clients == 1 else f"{clients} clients"
            pairs = zip(column(got[f"{worker} {clients}"], key), column(got[f"{inside} {clients}"], key))
            row = Row("plugins", f"what the worker adds to a vote, {many}: {label.split(' of ')[0]}", unit,
                      [apart - within for apart, within in pairs])
            if clients in go_calls:
                row.peers["go-plugin, the call"] = column(got[go_calls[clients]], key)
            rows.append(row)
    row = Row("plugins", "memory of the plugin's process", "MB", [votes[worker].memory()])
    if go_calls:
        row.peers["go-plugin, the call"] = column(got[go_calls[CLIENTS[-1]]], "memory_mb")[:1]
    return [*rows, row]
