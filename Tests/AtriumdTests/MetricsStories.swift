import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What the daemon says of itself in numbers.
    @Suite struct Metrics {
        private static let parses =
            "\(Checkout.python ?? "python3") -c '"
            + "import sys; from prometheus_client.parser import text_string_to_metric_families as f;"
            + "[print(m.name, m.type, len(m.documentation) > 0, s.name, sorted(s.labels.items()), s.value)"
            + " for m in f(sys.stdin.read()) for s in m.samples]'"

        /// The number of a sample in the text that Prometheus reads; nil without it.
        private static func number(_ sample: String, in text: String) -> Double? {
            text.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
                .flatMap { Double($0.dropFirst(sample.count + 1)) }
        }

        private static func calls(_ method: String, _ outcome: String) -> String {
            "atrium_calls_total{method=\"\(method)\",outcome=\"\(outcome)\"}"
        }

        @Test func `each call is counted by method and outcome, and timed`() async throws {
            try await withFilms { daemon in
                let peer = try daemon.peer()
                for _ in 0..<3 { _ = try await peer.call("org.varlink.service.GetInfo") }
                let list = "org.atrium.Contents.List"
                _ = try await peer.call(list, ["container": "nowhere"])
                _ = try await peer.call(list, ["contaner": "films"])
                _ = try await peer.call("org.atrium.Contents.Steal")
                _ = try await peer.call("com.example.\(UUID().uuidString).Invent")
                let text = try await daemon.type("atriumctl metrics").output
                for (method, outcome, count) in [
                    ("org.varlink.service.GetInfo", "ok", 3.0),
                    (list, "org.atrium.Contents.ContainerNotFound", 1),
                    (list, "org.varlink.service.InvalidParameter", 1),
                    ("unknown", "org.varlink.service.MethodNotFound", 1),
                    ("unknown", "org.varlink.service.InterfaceNotFound", 1),
                    ("org.atrium.Votes.Cast", "ok", 0),
                ] {
                    let sample = Self.calls(method, outcome)
                    #expect(Self.number(sample, in: text) == count, "\(sample)\n\(text)")
                }
                let times = "atrium_call_seconds_count{method=\"\(list)\"}"
                #expect(Self.number(times, in: text) == 2)
                #expect(!text.contains("com.example"), "who calls does not choose labels")
            }
        }

        @Test func `a stream counts once, with its first reply`() async throws {
            try await withFilms { daemon in
                let subscribe = "org.atrium.Notifications.Subscribe"
                let watcher = try daemon.peer()
                try await watcher.send(Peer.frame(subscribe, ["topics": ["films.>"]], more: true))
                _ = try await watcher.receive()
                let held = try await daemon.type("atriumctl metrics").output
                #expect(Self.number(Self.calls(subscribe, "ok"), in: held) == 1, "\(held)")
                #expect(Self.number("atrium_subscriptions", in: held) == 1)

                _ = try await daemon.type("atriumctl publish films.app.test")
                _ = try await watcher.receive()
                let told = try await daemon.type("atriumctl metrics").output
                #expect(Self.number(Self.calls(subscribe, "ok"), in: told) == 1, "once")
                let delivered = Self.number("atrium_notifications_delivered_total", in: told)
                #expect(delivered ?? 0 >= 1)
                #expect(Self.number("atrium_gaps_total{reason=\"trimmed\"}", in: told) == 0)
            }
        }

        @Test func `an open screen counts, with each revision that it is sent`() async throws {
            try await withFilms { daemon in
                let screen = try await OpenScreen(daemon, ["container": "films", "limit": 3])
                let opened = try await daemon.type("atriumctl metrics").output
                let open = "org.atrium.Screens.Open"
                #expect(Self.number(Self.calls(open, "ok"), in: opened) == 1, "\(opened)")
                #expect(Self.number("atrium_screens", in: opened) == 1)
                #expect(Self.number("atrium_screen_revisions_total", in: opened) == 1)
                _ = try await daemon.type("atriumctl vote films/\(screen.ids("list")[0]) 4")
                try await screen.next()
                let voted = try await daemon.type("atriumctl metrics").output
                #expect(Self.number("atrium_screen_revisions_total", in: voted) == 2)
                #expect(Self.number(Self.calls(open, "ok"), in: voted) == 1, "a stream is one call")
            }
        }

        @Test func `commits, syncs and what containers do are measured`() async throws {
            try await withFilms { daemon in
                let before = try await daemon.type("atriumctl metrics").output
                for stars in 1...5 {
                    _ = try await daemon.type("atriumctl vote films/alien-1979 \(stars)")
                }
                let after = try await daemon.type("atriumctl metrics").output
                func growth(_ sample: String) -> Double {
                    (Self.number(sample, in: after) ?? -1) - (Self.number(sample, in: before) ?? 0)
                }
                for sample in [
                    "atrium_commit_entries_count", "atrium_commit_entries_sum",
                    "atrium_commit_seconds_count", "atrium_sync_seconds_count",
                    "atrium_entries_total{container=\"films\"}",
                    "atrium_commands_total{container=\"films\"}", "atrium_sequence",
                ] {
                    #expect(growth(sample) == 5, "\(sample): \(growth(sample))\n\(after)")
                }
                let sync = try #require(Self.number("atrium_sync_seconds_sum", in: after))
                #expect(sync > 0)
                #expect(sync <= Self.number("atrium_commit_seconds_sum", in: after) ?? 0)
                #expect(Self.number("atrium_items{container=\"films\"}", in: after) ?? 0 > 100)
                #expect(Self.number("atrium_store_writable", in: after) == 1)
                #expect(growth("atrium_log_messages_total{level=\"error\"}") == 0)
                let notices = "atrium_log_messages_total{level=\"notice\"}"
                #expect(Self.number(notices, in: after) ?? 0 > 0, "that it is ready")
                #expect(Self.number("atrium_writer_queue_entries", in: after) == 0)
                #expect(Self.number("atrium_lane_entries{container=\"films\"}", in: after) == 0)

                _ = try await daemon.type("atriumctl delete films")
                let gone = try await daemon.type("atriumctl metrics").output
                #expect(!gone.contains("container=\"films\""), "forgotten with it\n\(gone)")
            }
        }

        @Test(.enabled(if: Checkout.python != nil, "run 'make test-deps' for a parser"))
        func `Prometheus' own parser reads all of it, and finds every family described`()
            async throws
        {
            try await withFilms { daemon in
                _ = try await daemon.type("atriumctl list films && atriumctl list songs")
                let parsed = try await daemon.type("atriumctl metrics | \(Self.parses)")
                #expect(parsed.status == 0, "\(parsed)")
                let lines = parsed.output.split(separator: "\n").map(String.init)
                #expect(lines.count > 100)
                let known = #/^atrium_\w+ (counter|gauge|histogram) True /#
                #expect(lines.allSatisfy { $0.contains(known) })
                let list = "('method', 'org.atrium.Contents.List')"
                #expect(
                    lines.contains {
                        $0.hasPrefix(
                            "atrium_call_seconds histogram True atrium_call_seconds_bucket")
                            && $0.contains("[('le', '+Inf'), \(list)]")
                    }, "\(parsed)")
            }
        }

        @Test func `a file for node_exporter is replaced in one step, readable by others`()
            async throws
        {
            try await withDaemon { daemon in
                try daemon.home.write("prom/atrium.prom", "old\n")
                let done = try await daemon.type(
                    "umask 077; exec 3<prom/atrium.prom; atriumctl metrics --output prom/atrium.prom"
                        + " && cat <&3 && ls -A prom && stat -c %a prom/atrium.prom"
                        + " && grep -c '^# HELP' prom/atrium.prom")
                let lines = done.output.split(separator: "\n").map(String.init)
                #expect(done.status == 0, "\(done)")
                #expect(lines.prefix(3) == ["old", "atrium.prom", "644"], "\(done)")
                #expect(lines.last.flatMap { Int($0) } ?? 0 > 20)
                let refused = try await daemon.type(
                    "atriumctl metrics --output nowhere/atrium.prom")
                #expect(refused.status == 1)
                #expect(refused.errors.contains("nowhere/"), "\(refused)")
                #expect(
                    try await daemon.type("atriumctl metrics --output x --json").status == 2)
            }
        }

        @Test func `metrics go through a link, and to what is no file, and leave both there`()
            async throws
        {
            try await withDaemon { daemon in
                try daemon.home.write("prom/real", "old\n")
                let linked = try await daemon.type(
                    "ln -s real prom/link && atriumctl metrics -o prom/link"
                        + " && head -c 6 prom/real && test -L prom/link")
                #expect(linked.status == 0 && linked.output == "# HELP", "\(linked)")
                let piped = try await daemon.type(
                    "mkfifo prom/pipe && { cat prom/pipe & atriumctl metrics -o prom/pipe; }"
                        + " && wait && test -p prom/pipe")
                #expect(piped.status == 0 && piped.output.hasPrefix("# HELP"), "\(piped)")
                let printed = try await daemon.type("atriumctl metrics -o - && test ! -e ./-")
                #expect(printed.status == 0 && printed.output.hasPrefix("# HELP"), "\(printed)")
            }
        }

        @Test func `metrics as JSON carry a histogram's buckets`() async throws {
            try await withDaemon { daemon in
                _ = try await daemon.type("atriumctl status")
                let all = try await daemon.type("atriumctl metrics --json").json["metrics"]?.array
                let times = try #require(
                    all?.first {
                        $0["name"]?.string == "atrium_call_seconds"
                            && $0["labels"]?["method"]?.string == "org.atrium.Daemon.Status"
                    })
                #expect(times["kind"]?.string == "histogram")
                #expect(times["value"]?.int == 1)
                let buckets = try #require(times["buckets"]?.array)
                #expect(buckets.count == 20)
                let counts = buckets.compactMap { $0["count"]?.int }
                #expect(counts == counts.sorted() && counts.last == 1)
                #expect(all?.contains { $0["kind"]?.string == "gauge" && $0["sum"] == nil } == true)
            }
        }

        @Test func `systemd's report finds each family described, and each metric of a family`()
            async throws
        {
            try await withFilms { daemon in
                func replies(_ method: String) async throws -> [JSONValue] {
                    let peer = try daemon.peer()
                    try await peer.send(Peer.frame("io.systemd.Metrics." + method, more: true))
                    var all: [JSONValue] = []
                    while let reply = try await peer.receive() {
                        try all.append(#require(reply["parameters"], "\(reply)"))
                        guard reply["continues"]?.bool == true else { break }
                    }
                    return all
                }
                let families = try await replies("Describe")
                let metrics = try await replies("List")
                #expect(families.count > 30)
                // What systemd-report takes from all its sources together.
                #expect(metrics.count < 1_024 / 4, "\(metrics.count)")
                let types = Dictionary(
                    families.map { ($0["name"]?.string ?? "", $0["type"]?.string) }
                ) { first, _ in first }
                #expect(types.count == families.count, "no name twice")
                for metric in metrics {
                    let name = try #require(metric["name"]?.string)
                    // The prefix names the socket, the rest is a name of Varlink's.
                    #expect(name.contains(#/^org\.atrium\.Daemon\.[A-Z][A-Za-z0-9]*$/#))
                    #expect(types[name] != nil, "\(name) is not described")
                    #expect(metric["value"]?.double != nil, "\(metric)")
                }
                let items = metrics.first {
                    $0["name"]?.string == "org.atrium.Daemon.Items"
                        && $0["object"]?.string == "films"
                }
                #expect(items?["fields"] == nil && items?["value"]?.int ?? 0 > 100)
                #expect(types["org.atrium.Daemon.CallsTotal"] == "counter")
                #expect(
                    metrics.contains {
                        $0["fields"]?["method"]?.string == "org.atrium.Contents.Put"
                            && $0["name"]?.string == "org.atrium.Daemon.CallSecondsSum"
                    })
                let once = try await daemon.peer().call("io.systemd.Metrics.List")
                #expect(once["error"]?.string == "org.varlink.service.ExpectedMore")
            }
        }
    }
}
