"""Publishing and subscribing: 256 bytes, not kept; each delivery is checked for size and order."""
import atrium
import servers
from figures import Case, Row, column, measure
from processes import drive, tool

FAN_OUT = {"subscribers": 100, "window": 64, "seconds": 1.2}
WAYS = {
    "1 to 1, one core": ("lat", {"one_core": True, "seconds": 0.7}),
    "1 to 100": ("flow", FAN_OUT),
    "1 to 1": ("flow", {"seconds": 0.8}),
}
KEYS = [("1 to 1, one core", "p50", "p50_us", "us", {"aim": 14}),
        ("1 to 1, one core", "server CPU", "server_cpu_us", "us", {}),
        ("1 to 100", "deliveries", "delivered_per_s", "/s", {"ahead_of": "Redis"}),
        ("1 to 100", "server CPU a delivery", "server_cpu_us", "us", {}),
        ("1 to 1", "deliveries", "delivered_per_s", "/s", {}),
        ("1 to 1", "server CPU a delivery", "server_cpu_us", "us", {})]
OURS = {"transient": "atrium", "transient, no reply": "atrium-oneway"}
# What is told of a publisher that takes no reply, as those of NATS, MQTT and D-Bus are.
SHORT = ["p50", "deliveries"]
# What Unix sockets allow when each message is written to each of a hundred, one or sixteen a write.
BARE = {"bare writes": 1, "bare writes of 16": 16}


def run(rounds):
    ours = atrium.start_with_bench()
    peers = {"Redis": (servers.redis(), "redis"), "NATS": (servers.nats(), "nats"),
             "mosquitto": (servers.mosquitto(), "mqtt"),
             "dbus-broker": (servers.dbus_broker(), "dbus"),
             "dbus-daemon": (servers.dbus_daemon(), "dbus")}
    cases = []
    for name, (server, protocol) in {
            **{name: (ours, protocol) for name, protocol in OURS.items()}, **peers}.items():
        for way, (mode, options) in WAYS.items():
            options = {"protocol": protocol, **options}
            cases.append(Case(f"{name} {way}", lambda mode=mode, server=server, options=options:
                              drive(mode, server, **options)))
    cases += [Case(f"{name} 1 to 100", lambda chunk=chunk: tool(
        "limits", "fan-out", 0.4, 100, chunk)) for name, chunk in BARE.items()]
    return rows(measure(cases, rounds), [*peers, *BARE])


def rows(got, peers):
    result = []
    for ours in OURS:
        for way, label, key, unit, aim in KEYS:
            if ours != "transient" and label not in SHORT:
                continue
            row = Row("bus", f"{ours}, {way}: {label}", unit, column(got[f"{ours} {way}"], key),
                      **aim)
            for peer in peers:
                results = got.get(f"{peer} {way}")
                if results and key in results[0]:
                    row.peers[peer] = column(results, key)
            result.append(row)
    return result
