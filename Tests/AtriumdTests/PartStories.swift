import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Containers in containers, as people who type and front ends have them.
    @Suite struct Parts {
        private static func child(_ name: String, in isolation: String = "daemon") -> String {
            """
            atrium: 1
            container: \(name)
            fields:
              name: { type: text, search: true }
              start: { type: time }
              day: { type: date, of: start, by: day, zone: UTC }
            components:
              - name: filters
                plugin: org.atrium.facets
                isolation: \(isolation)
                settings: { sections: [{ id: day, field: day, input: single }] }
              - { name: list, plugin: org.atrium.catalog, isolation: \(isolation) }
              - { name: stars, plugin: org.atrium.stars, isolation: \(isolation) }

            """
        }

        private static func day(in isolation: String) -> String {
            """
            atrium: 1
            container: day
            fields: { start: { type: time }, day: { type: date, of: start, by: day, zone: UTC } }
            components:
              - name: calendar
                plugin: org.atrium.facets
                isolation: \(isolation)
                settings: { sections: [{ id: day, field: day, input: single }] }
              - { name: days, plugin: org.atrium.catalog, isolation: \(isolation) }
              - { name: sleep, container: sleep, follow: { day: day }, title: Nights }
              - { name: work, container: work, follow: { day: day }, hidden: empty }

            """
        }

        private func withDay(
            in isolation: String = "daemon", _ options: DaemonUnderTest.Options = .init(),
            _ story: (DaemonUnderTest) async throws -> Void
        ) async throws {
            try await withDaemon(options) { daemon in
                // The one around comes first.
                let made = try await daemon.type(
                    """
                    cat >day.yaml <<'.'
                    \(Self.day(in: isolation)).
                    cat >sleep.yaml <<'.'
                    \(Self.child("sleep", in: isolation)).
                    cat >work.yaml <<'.'
                    \(Self.child("work", in: isolation)).
                    atriumctl apply -f day.yaml && atriumctl apply -f sleep.yaml -f work.yaml &&
                    atriumctl put day/a start=2026-01-01T08:00:00Z &&
                    atriumctl put day/b start=2026-01-02T08:00:00Z &&
                    atriumctl put sleep/nap name=Nap start=2026-01-01T13:00:00Z &&
                    atriumctl put sleep/night name=Night start=2026-01-02T01:00:00Z &&
                    atriumctl put work/desk name=Desk start=2026-01-02T09:00:00Z
                    """)
                #expect(made.status == 0, "\(made)")
                #expect(made.output.contains("attached (the container sleep)"), "\(made)")
                try await story(daemon)
            }
        }

        private func part(_ said: JSONValue, _ path: String) -> JSONValue? {
            said["parts"]?.array?.first { $0["part"]?.string == path }
        }

        @Test(arguments: ["daemon", "process"])
        func `a choice takes the parts that follow along, in one reply, and calls name a part`(
            isolation: String
        ) async throws {
            try await withDay(in: isolation) { daemon in
                let peer = try daemon.peer()
                try await peer.send(
                    Peer.frame(
                        "org.atrium.Screens.Open",
                        ["container": "day", "filters": ["day": ["2026-01-01"]]], more: true))
                let first = try #require(try await peer.receive()?["parameters"])
                let screen = try #require(first["screen"]?.string)
                #expect(
                    first["components"]?.array?.map { $0["kind"]?.string } == [
                        "filters", "contents", "container", "container",
                    ])
                let sleep = try #require(part(first, "sleep"))
                #expect(sleep["container"]?.string == "sleep" && sleep["new"]?.bool == true)
                #expect(sleep["lists"]?.array?.first?["total"]?.int == 1)
                #expect(part(first, "work") == nil, "it has nothing on that day")

                let hand = try daemon.peer()
                _ = try await hand.call(
                    "org.atrium.Screens.Select",
                    ["screen": .string(screen), "section": "day", "filter": "2026-01-02"])
                let next = try #require(try await peer.receive()?["parameters"])
                #expect(next["base"]?.int == 1 && next["revision"]?.int == 2)
                #expect(part(next, "sleep")?["new"] == nil)
                #expect(part(next, "work")?["new"]?.bool == true)
                let searched = try await hand.call(
                    "org.atrium.Screens.Search",
                    ["screen": .string(screen), "text": "xyz", "part": "work"])
                #expect(searched["parameters"]?["revision"]?.int == 3)
                let empty = try #require(try await peer.receive()?["parameters"])
                let work = try #require(part(empty, "work"))
                #expect(work["gone"] == nil, "it stays for the search to be undone")
                #expect(work["lists"]?.array?.first?["total"]?.int == 0)
                #expect(part(empty, "sleep") == nil && empty["lists"] == nil)

                let vote = try await daemon.type("atriumctl vote sleep/night 4")
                #expect(vote.status == 0, "\(vote)")
                let voted = try #require(try await peer.receive()?["parameters"])
                #expect(
                    part(voted, "sleep")?["lists"]?.array?.first?["edits"]?.array?.first?["item"]?[
                        "votes"]?["count"]?.int == 1)
                let wrong = try await hand.call(
                    "org.atrium.Screens.Back", ["screen": .string(screen), "part": "wrok"])
                #expect(wrong["error"]?.string == "org.atrium.Screens.ComponentNotFound")
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `a section that is not there can't be followed by hand, nor follow`(isolation: String)
            async throws
        {
            try await withDay(in: isolation) { daemon in
                for (follow, problem) in [
                    ("foo=day", "'sleep' has no section 'foo'; it has day."),
                    ("day=bar", "'day' has no section 'bar'; it has day."),
                ] {
                    let wrong = try await daemon.type(
                        "atriumctl attach day naps --container sleep --follow \(follow)")
                    #expect(wrong.status == 1, "\(wrong)")
                    #expect(wrong.errors.contains(problem), "\(wrong)")
                }
                let right = try await daemon.type(
                    "atriumctl attach day naps --container sleep --follow day=day")
                #expect(right.status == 0, "\(right)")
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `what components of a part report reaches the delegate around it`(isolation: String)
            async throws
        {
            let plugins = try TemporaryDirectory()
            try plugins.addBreaker("gate", kind: "delegate")
            var options = DaemonUnderTest.Options()
            options.configuration = [
                "atrium.yaml": "pluginPath: [\(plugins.path)]\ndelegates: [org.atrium.gate]\n"
            ]
            try await withDay(in: isolation, options) { daemon in
                let made = try await daemon.type(
                    "echo 'delegate: org.atrium.gate' >>day.yaml && atriumctl apply -f day.yaml")
                #expect(made.status == 0, "\(made)")
                try await daemon.follow("timeout 60 atriumctl watch day.part --json") { lines in
                    _ = try await lines.next()
                    let done = try await daemon.type(
                        "atriumctl vote sleep/nap 4 && atriumctl remove work/desk")
                    #expect(done.status == 0, "\(done)")
                    var heard: [String] = []
                    while heard.count < 2 {
                        let batch = try JSON.decode(JSONValue.self, from: try await lines.next())
                        heard += (batch["notifications"]?.array ?? []).compactMap {
                            $0["payload"]?["what"]?.string
                        }
                    }
                    #expect(
                        heard == [
                            "sleep: 1 votes of stars on nap", "work: list without desk",
                        ])
                }
            }
        }

        @Test func `a container is attached to another by hand, and detached`() async throws {
            try await withDay { daemon in
                let screen = try daemon.peer()
                try await screen.send(
                    Peer.frame("org.atrium.Screens.Open", ["container": "day"], more: true))
                _ = try await screen.receive()
                let made = try await daemon.type(
                    """
                    cat >play.yaml <<'.'
                    \(Self.child("play")).
                    atriumctl apply -f play.yaml &&
                    atriumctl put play/chess name=Chess start=2026-01-01T13:00:00Z &&
                    atriumctl attach day play --container play --follow day=day --at 2
                    """)
                #expect(made.status == 0, "\(made)")
                #expect(made.output.hasSuffix("day: play attached\n"), "\(made)")
                var shown: JSONValue?
                while shown == nil {
                    let revision = try #require(try await screen.receive()?["parameters"])
                    shown = part(revision, "play")?["lists"]
                }
                #expect(shown?.array?.first?["total"]?.int == 1)
                let circle = try await daemon.type("atriumctl attach play day --container day")
                #expect(circle.status == 1)
                #expect(
                    circle.errors.contains("can't be a part of itself: day > play > day"),
                    "\(circle)")
                #expect(circle.errors.hasPrefix("atriumctl: play: A container"), "\(circle)")
                let typo = try await daemon.type("atriumctl attach day naps --container slep")
                #expect(typo.status == 1)
                #expect(typo.errors.contains("there is no container 'slep'"), "\(typo)")
                let again = try await daemon.type("atriumctl attach day play --container work")
                #expect(again.status == 1 && again.errors.contains("'play'"), "\(again)")
                let both = try await daemon.type(
                    "atriumctl attach day x --container work --plugin org.atrium.stars")
                #expect(both.status == 2 && both.errors.contains("--plugin or --container"))
                let peer = try daemon.peer()
                for (wrong, parameter): (JSONValue, String) in [
                    (["plugin": "org.atrium.stars", "child": "work"], "child"),
                    (["child": "work", "isolation": "process"], "isolation"),
                    (["child": "work", "settings": ["scale": 5]], "settings"),
                    (["plugin": "org.atrium.stars", "follow": ["day": "day"]], "follow"),
                    ([:], "plugin"),
                ] {
                    var parameters = wrong
                    parameters["container"] = "day"
                    parameters["component"] = "x"
                    let refused = try await peer.call("org.atrium.Containers.Attach", parameters)
                    #expect(
                        refused["error"]?.string == "org.atrium.Daemon.ParameterInvalid"
                            && refused["parameters"]?["parameter"]?.string == parameter,
                        "\(refused)")
                }

                try await daemon.stop()
                try await daemon.start()
                let described = try await daemon.type("atriumctl describe day --json")
                let play = try described.json["container"]?["components"]?[2]
                #expect(
                    play?["container"]?.string == "play"
                        && play?["follow"]?["day"]?.string == "day", "\(described)")
                let detached = try await daemon.type("atriumctl detach day play")
                #expect(detached.status == 0, "\(detached)")
                let deleted = try await daemon.type("atriumctl delete play")
                #expect(deleted.status == 0, "\(deleted)")
            }
        }

        @Test func `what is typed shows and works the parts, and refuses what would break them`()
            async throws
        {
            try await withDay { daemon in
                let described = try await daemon.type("atriumctl describe day")
                #expect(described.output.contains("container sleep"), "\(described)")
                let deleted = try await daemon.type("atriumctl delete sleep")
                #expect(deleted.status != 0, "\(deleted)")
                #expect(
                    deleted.errors.contains("'sleep' is a part of day: take it out of there first"),
                    "\(deleted)")
                let circle = try await daemon.type(
                    """
                    echo '  - { name: day, container: day }' >>sleep.yaml
                    atriumctl apply -f sleep.yaml
                    """)
                #expect(circle.status != 0, "\(circle)")
                #expect(
                    circle.errors.contains("can't be a part of itself: day > sleep > day"),
                    "\(circle)")
                try await daemon.follow("timeout 60 atriumctl open day") { lines in
                    let head = try await lines.next()
                    let id = try String(#require(head.firstMatch(of: #/screen ([^ ]+)/#)?.1))
                    var line = head
                    while !line.contains("sleep · Nights") { line = try await lines.next() }
                    let chosen = try await daemon.type(
                        "atriumctl screen search \(id) nap --part sleep")
                    #expect(chosen.output == "revision 2\n", "\(chosen)")
                    while !line.contains("sleep/list: 1 in all") { line = try await lines.next() }
                    let hidden = try await daemon.type("atriumctl screen hide \(id) sleep")
                    #expect(hidden.output == "revision 3\n", "\(hidden)")
                    while !line.contains("sleep: not shown any more") {
                        line = try await lines.next()
                    }
                }
            }
        }
    }
}
