"""A request and its reply: round trips of one client on one core, and rates with fifty clients."""
import atrium
import servers
from figures import Case, Row, column, measure
from processes import drive, request_file, tool

PING_PONG = "two bare processes"
WAYS = {
    "one core": {"one_core": True},
    "50 clients": {"connections": 50},
    "50 clients, 16 deep": {"connections": 50, "depth": 16},
}
KEYS = [("one core", "p50", "p50_us", "us", 18),
        ("one core", "server CPU", "server_cpu_us", "us", 10),
        ("50 clients", "rate", "per_s", "/s", 165_000),
        ("50 clients", "server CPU", "server_cpu_us", "us", 6.5),
        ("50 clients, 16 deep", "rate", "per_s", "/s", 800_000),
        ("50 clients, 16 deep", "server CPU", "server_cpu_us", "us", 1.3)]
OURS = ["GetInfo", "Votes.Tally"]


def targets():
    """What is asked of whom: name, server, protocol and request."""
    http = request_file("http", "GET /f256 HTTP/1.1\r\nHost: l\r\n\r\n")
    info = request_file("info", '{"method":"org.varlink.service.GetInfo"}\0')
    tally = request_file("tally", '{"method":"org.atrium.Votes.Tally","parameters":'
                                  '{"container":"bench","item":"i1"}}\0')
    ours = atrium.start_with_bench()
    return [
        ("GetInfo", ours, {"protocol": "varlink", "request": info}),
        ("Redis PING", servers.redis(), {"protocol": "redis-ping"}),
        ("Votes.Tally", ours, {"protocol": "varlink", "request": tally}),
        ("nginx, 256 B", servers.nginx(), {"protocol": "http", "request": http}),
        ("dbus-broker Ping", servers.dbus_broker(), {"protocol": "dbus-ping"}),
        ("dbus-daemon Ping", servers.dbus_daemon(), {"protocol": "dbus-ping"}),
        ("Python varlink", servers.python_varlink(), {"protocol": "varlink", "request": info}),
    ]


def applies(peer, way):
    """Left out: Python with fifty threads, and pipelining where it is no use of the protocol."""
    if peer == "Python varlink":
        return way == "one core"
    return way != "50 clients, 16 deep" or not peer.startswith("dbus")


def run(rounds):
    cases, peers = [], []
    for name, server, how in targets():
        peers += [] if name in OURS else [name]
        for way, options in WAYS.items():
            if applies(name, way):
                options = {**how, **options, "seconds": 0.7}
                cases.append(Case(f"{name} {way}", lambda server=server, options=options:
                                  drive("req", server, **options)))
    cases.append(Case(f"{PING_PONG} one core", lambda: tool("limits", "ping-pong", 0.4, "same")))
    got = measure(cases, rounds)
    rows = []
    for ours in OURS:
        for way, label, key, unit, aim in KEYS:
            row = Row("calls", f"{ours}, {way}: {label}", unit, column(got[f"{ours} {way}"], key),
                      aim=aim)
            for peer in [PING_PONG, *peers]:
                results = got.get(f"{peer} {way}")
                if results and key in results[0]:
                    row.peers[peer] = column(results, key)
            rows.append(row)
    return rows
