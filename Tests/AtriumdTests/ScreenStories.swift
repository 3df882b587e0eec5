import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Screens as front ends have them: one connection that shows, others that act.
    @Suite struct Screens {
        @Test func `everything that a user does on a screen comes back as a diff`() async throws {
            try await withFilms { daemon in
                let screen = try await OpenScreen(daemon, ["container": "films", "limit": 5])
                let hand = try daemon.peer()
                #expect(screen.list("list").count == 5)
                #expect(screen.total("list") == 125)
                let all = screen.total("list")

                func act(_ method: String, _ parameters: [JSONValue.Member]) async throws {
                    let reply = try await hand.call(
                        "org.atrium.Screens." + method,
                        .object([.init("screen", .string(screen.id))] + parameters))
                    #expect(reply["error"] == nil, "\(method): \(reply)")
                    let revision = try #require(reply["parameters"]?["revision"]?.int)
                    while screen.revision < revision { try await screen.next() }
                    #expect(screen.revision == revision, "\(method)")
                }

                try await act("Select", [.init("section", "genre"), .init("filter", "drama")])
                #expect(screen.total("list") < all)
                try await act("Select", [.init("section", "genre"), .init("filter", "crime")])
                try await act("Deselect", [.init("section", "genre"), .init("filter", "drama")])
                try await act("Clear", [])
                #expect(screen.total("list") == all)
                try await act("Search", [.init("text", "GODFATHER")])
                #expect(screen.ids("list").contains("the-godfather-1972"))
                try await act("Search", [.init("text", "")])
                try await act("Sort", [.init("sort", ["-year"])])
                try await act("Resize", [.init("component", "list"), .init("limit", 3)])
                #expect(screen.list("list").count == 3)
                try await act("Resize", [.init("limit", 7)])
                #expect(screen.list("list").count == 7)
                let first = try #require(screen.ids("list").first)
                try await act("Enter", [.init("item", .string(first))])
                #expect(screen.path == [first])
                #expect(screen.total("list") == 0)
                try await act("Back", [])
                #expect(screen.path == [])
                #expect(screen.total("list") == all)
                try await act("Focus", [.init("item", .string(first))])
                let said = try await daemon.type("atriumctl comment films/\(first) 'Seen twice'")
                #expect(said.status == 0, "\(said)")
                while screen.list("talk").isEmpty { try await screen.next() }
                #expect(screen.list("talk")[0]["text"]?.string == "Seen twice")
                try await act("Focus", [])
                #expect(screen.list("talk").isEmpty)
            }
        }

        @Test func `choosing an item reaches whoever listens, and what is not there is refused`()
            async throws
        {
            try await withFilms { daemon in
                let named = try await daemon.type(
                    "(cat $EXAMPLES/films.yaml; echo 'activate: picked') >f.yaml && "
                        + "atriumctl apply -f f.yaml")
                #expect(named.status == 0, "\(named)")
                let screen = try await OpenScreen(daemon, ["container": "films"])
                let (hand, shown) = (try daemon.peer(), screen.id)
                @Sendable func call(
                    _ method: String, _ parameters: [JSONValue.Member], on id: String? = nil
                ) async throws -> JSONValue {
                    try await hand.call(
                        "org.atrium.Screens." + method,
                        .object([.init("screen", .string(id ?? shown))] + parameters))
                }
                try await daemon.follow("atriumctl watch 'films.items.>' --json") { lines in
                    _ = try await lines.next()
                    let picked = try await call("Activate", [.init("item", "heat-1995")])
                    let sequence = try #require(picked["parameters"]?["sequence"]?.int)
                    let heard = try JSON.decode(JSONValue.self, from: try await lines.next())
                    #expect(heard["notifications"]?[0]?["sequence"]?.int == sequence)
                    #expect(heard["notifications"]?[0]?["topic"]?.string == "films.items.picked")
                    #expect(
                        heard["notifications"]?[0]?["payload"]?["item"]?.string == "heat-1995")
                }
                let refused: [(String, [JSONValue.Member], String)] = [
                    ("Activate", [.init("item", "none")], "ItemNotFound"),
                    ("Enter", [.init("item", "none")], "ItemNotFound"),
                    ("Focus", [.init("item", "none")], "ItemNotFound"),
                    ("SetScope", [.init("scope", "none")], "ScopeNotFound"),
                    ("Sort", [.init("sort", ["none"])], "FieldUnknown"),
                    ("Resize", [.init("limit", 1001)], "LimitExceeded"),
                    ("Select", [.init("section", "none"), .init("filter", "x")], "FilterNotFound"),
                ]
                for (method, parameters, error) in refused {
                    let reply = try await call(method, parameters)
                    #expect(reply["error"]?.string == "org.atrium.Screens." + error, "\(reply)")
                }
                for limit in [0, -5] {
                    let reply = try await call("Resize", [.init("limit", .int(Int64(limit)))])
                    #expect(reply["error"]?.string == "org.atrium.Daemon.ParameterInvalid")
                    #expect(reply["parameters"]?["parameter"]?.string == "limit")
                }
                for actor in ["", "x", "x:"] {
                    let open: JSONValue = [
                        "container": "films", "actor": .string(actor),
                    ]
                    try await hand.send(Peer.frame("org.atrium.Screens.Open", open, more: true))
                    let reply = try #require(try await hand.receive())
                    #expect(reply["error"]?.string == "org.atrium.Daemon.ActorForbidden")
                }
                for method in ["Clear", "Back"] {
                    let reply = try await call(method, [], on: "nobody's")
                    #expect(reply["error"]?.string == "org.atrium.Screens.ScreenNotFound")
                }
            }
        }

        @Test func `a screen outlives its connection, and another one goes on where it was`()
            async throws
        {
            try await withFilms { daemon in
                var screen = try await OpenScreen(
                    daemon, ["container": "films", "sort": ["-year"], "limit": 5])
                let hand = try daemon.peer()
                _ = try await hand.call(
                    "org.atrium.Screens.Sort",
                    ["screen": .string(screen.id), "sort": ["-votes.score"]])
                try await screen.next()
                let (id, revision) = (screen.id, screen.revision)
                let kept = screen
                screen = try await OpenScreen(daemon, ["container": "films"])
                #expect(screen.id != id)
                kept.hangUp()
                let vote = try await daemon.type("atriumctl vote films/heat-1995 5")
                #expect(vote.status == 0)
                try await kept.open(resuming: true)
                #expect(kept.id == id)
                #expect(kept.lastBase == revision)
                #expect(kept.reset == nil)
                #expect(kept.ids("list").first == "heat-1995")

                try await daemon.kill()
                try await daemon.start()
                try await kept.open(resuming: true)
                #expect(kept.id != id)
                #expect(kept.lastBase == nil)
                #expect(kept.reset?.contains("started anew") ?? false, "\(kept.reset ?? "")")
            }
        }

        @Test func `a reader that sleeps gets one diff for all that it missed`() async throws {
            try await withFilms { daemon in
                let screen = try await OpenScreen(daemon, ["container": "films", "limit": 200])
                let hand = try daemon.peer()
                // More than any socket holds: each of these diffs says everything anew.
                for round in 0..<400 {
                    let sort: JSONValue = round % 2 == 0 ? ["-year"] : ["title"]
                    _ = try await hand.call(
                        "org.atrium.Screens.Sort", ["screen": .string(screen.id), "sort": sort])
                    _ = try await hand.call(
                        "org.atrium.Votes.Cast",
                        [
                            "container": "films", "item": "heat-1995",
                            "value": .int(Int64(round % 5 + 1)),
                        ])
                }
                let page = try await daemon.type(
                    "atriumctl list films --sort title --limit 200 --json")
                let wanted = try page.json["sequence"]?.int ?? 0
                while screen.sequence < wanted { try await screen.next() }
                #expect(screen.mostCommits > 1)
                #expect(screen.revisions < 800)
                #expect(screen.ids("list") == (try page.json.ids))
            }
        }

        @Test func `while the filters' worker is down the screen goes on with what it had`()
            async throws
        {
            try await withDaemon { daemon in
                let filled = try await daemon.type(
                    "sed 's/plugin: org.atrium.facets/&\\n    isolation: process/' "
                        + "$EXAMPLES/films.yaml >f.yaml && atriumctl apply -f f.yaml && "
                        + "atriumctl import films $EXAMPLES/films.ndjson")
                #expect(filled.status == 0, "\(filled)")
                let screen = try await OpenScreen(
                    daemon, ["container": "films", "filters": ["genre": ["drama"]], "limit": 5])
                let total = screen.total("list")
                #expect(total > 0 && total < 125)
                let pid = try #require(daemon.pid)
                let killed = try await run(
                    ["pkill", "--signal", "KILL", "--parent", "\(pid)", "atrium-worker"])
                #expect(killed.status == 0, "\(killed)")
                while screen.problem("filters") == nil { try await screen.next() }
                #expect(screen.total("list") == total)
                while screen.problem("filters") != nil { try await screen.next() }
                #expect(screen.total("list") == total)
                let hand = try daemon.peer()
                let cleared = try await hand.call(
                    "org.atrium.Screens.Clear", ["screen": .string(screen.id)])
                #expect(cleared["error"] == nil, "\(cleared)")
                while screen.total("list") != 125 { try await screen.next() }
            }
        }
    }
}
