import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Calls whose parameters have the right types, and values that make no sense.
    @Suite struct WireValues {
        @Test func `a place, a depth or a cursor that can't be is refused by its name`()
            async throws
        {
            try await withFilms { daemon in
                let peer = try daemon.peer()
                let before: [(method: String, parameters: JSONValue, parameter: String)] = [
                    ("Notifications.Subscribe", ["topics": [">"], "after": -1], "after"),
                    (
                        "Containers.Move", ["container": "films", "component": "stars", "at": -1],
                        "at"
                    ),
                    (
                        "Containers.Attach",
                        [
                            "container": "films", "component": "thumbs", "at": -3,
                            "plugin": "org.atrium.stars",
                        ], "at"
                    ),
                    ("Comments.Thread", ["container": "films", "depth": -1], "depth"),
                    ("Contents.List", ["container": "films", "limit": 0], "limit"),
                ]
                for (method, parameters, parameter) in before {
                    try await peer.send(
                        Peer.frame(
                            "org.atrium." + method, parameters, more: method.hasSuffix("Subscribe"))
                    )
                    let reply = try #require(try await peer.receive())
                    #expect(
                        reply["error"]?.string == "org.atrium.Daemon.ParameterInvalid", "\(reply)")
                    #expect(reply["parameters"]?["parameter"]?.string == parameter, "\(reply)")
                }
                let described = try await daemon.type("atriumctl describe films --definition")
                #expect(!described.output.contains("thumbs"), "\(described)")
                let cursor = try await peer.call(
                    "org.atrium.Filters.List",
                    ["container": "films", "section": "genre", "cursor": "none"])
                #expect(cursor["error"]?.string == "org.atrium.Filters.CursorInvalid", "\(cursor)")
            }
        }

        @Test func `a limit is named by one word, with what it allows`() async throws {
            try await withFilms { daemon in
                let peer = try daemon.peer()
                let text = String(repeating: "x", count: 10_001)
                let long = try await peer.call(
                    "org.atrium.Comments.Post",
                    ["container": "films", "item": "alien-1979", "text": .string(text)])
                #expect(long["error"]?.string == "org.atrium.Comments.LimitExceeded", "\(long)")
                #expect(long["parameters"]?["limit"]?.string == "maxLength", "\(long)")
                #expect(long["parameters"]?["value"]?.int == 10_000, "\(long)")
                let reason = try await peer.call(
                    "org.atrium.Comments.Moderate",
                    [
                        "container": "films", "comment": "c", "state": "pending",
                        "reason": .string(text),
                    ])
                #expect(reason["parameters"]?["limit"]?.string == "reasonLength", "\(reason)")
                #expect(reason["parameters"]?["value"]?.int == 500, "\(reason)")
            }
        }

        /// `ballots` would show the user's name for it, and `erase` of that name would not find it.
        @Test(arguments: ["unix:007", "unix:bob", "unix:99999999999", "unix:4294967295", "unix:-1"])
        func `nobody acts for a user of the machine by another form than the number`(
            _ actor: String
        ) async throws {
            try await withFilms { daemon in
                let peer = try daemon.peer()
                let reply = try await peer.call(
                    "org.atrium.Votes.Cast",
                    [
                        "container": "films", "item": "alien-1979", "value": 4,
                        "actor": .string(actor),
                    ])
                #expect(
                    reply["error"]?.string == "org.atrium.Daemon.ActorForbidden", "\(reply)")
                #expect(reply["parameters"]?["reason"]?.string?.contains("unix:UID") == true)
            }
        }
    }
}
