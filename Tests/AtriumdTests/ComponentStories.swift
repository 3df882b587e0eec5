import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A container's parts come, go, move and hide while people use it.
    @Suite struct Components {
        @Test func `a component is attached, moved, hidden, shown and detached while it runs`()
            async throws
        {
            try await withFilms { daemon in
                #expect(try await Self.names(daemon) == ["filters", "list", "stars", "talk"])
                try await Self.type(
                    daemon,
                    "atriumctl attach films moods --plugin org.atrium.stars --setting scale=3 --at 1"
                )
                #expect(
                    try await Self.names(daemon) == ["filters", "moods", "list", "stars", "talk"])
                try await Self.type(daemon, "atriumctl move films moods 4")
                #expect(
                    try await Self.names(daemon) == ["filters", "list", "stars", "talk", "moods"])
                let beyond = try await daemon.type("atriumctl move films stars 99")
                #expect(beyond.output == "films: stars moved to 4, the last place\n", "\(beyond)")
                try await Self.type(daemon, "atriumctl move films stars 2")

                try await Self.type(daemon, "atriumctl hide films stars")
                try await Self.type(daemon, "atriumctl vote films/alien-1979 4")
                try await Self.type(daemon, "atriumctl show films stars")
                try await Self.type(daemon, "atriumctl detach films moods")
                #expect(try await Self.names(daemon) == ["filters", "list", "stars", "talk"])

                try await daemon.stop()
                try await daemon.start()
                #expect(try await Self.names(daemon) == ["filters", "list", "stars", "talk"])
            }
        }

        @Test func `what was voted returns with a component that was detached`() async throws {
            try await withFilms { daemon in
                try await Self.type(daemon, "atriumctl vote films/alien-1979 4")
                try await Self.type(daemon, "atriumctl detach films stars")
                let gone = try await daemon.type("atriumctl vote films/alien-1979 4")
                #expect(gone.status == 1)
                try await Self.type(
                    daemon,
                    "atriumctl attach films stars --plugin org.atrium.stars --setting scale=5")
                let best = try await daemon.type(
                    "atriumctl list films --sort -votes.score --limit 1 --json")
                #expect(try best.json["items"]?[0]?["id"]?.string == "alien-1979")
                #expect(try best.json["items"]?[0]?["votes"]?["count"]?.int == 1)
            }
        }

        @Test func `applying a definition again leaves alone what was changed by hand`()
            async throws
        {
            try await withFilms { daemon in
                try await Self.type(daemon, "atriumctl hide films talk")
                let again = try await daemon.type(
                    "atriumctl apply -f $EXAMPLES/films.yaml --json")
                #expect(try again.json["results"]?[0]?["action"]?.string == "unchanged")
                let described = try await daemon.type("atriumctl describe films --json")
                let talk = try described.json["container"]?["components"]?[3]
                #expect(talk?["hidden"]?.bool == true)

                let edited = try await daemon.type(
                    "sed 's/^title: Film club/title: Cinema/' $EXAMPLES/films.yaml >c.yaml; "
                        + "atriumctl apply -f c.yaml --dry-run --json; atriumctl apply -f c.yaml --json"
                )
                for result in try edited.jsonLines {
                    #expect(result["results"]?[0]?["action"]?.string == "changed")
                }
                #expect(try edited.jsonLines.count == 2)
            }
        }

        @Test func `a screen shows a snapshot and then each change`() async throws {
            try await withFilms { daemon in
                let line = "atriumctl open films --filter genre=western --sort -rating --json"
                try await daemon.follow(line) { lines in
                    let first = try JSON.decode(JSONValue.self, from: try await lines.next())
                    #expect(first["base"] == .null || first["base"] == nil)
                    let total = try #require(first["lists"]?[0]?["total"]?.int)
                    #expect(first["lists"]?[0]?["edits"]?.array?.count == total)
                    let screen = try #require(first["screen"])

                    let peer = try daemon.peer()
                    let selected = try await peer.call(
                        "org.atrium.Screens.Clear", ["screen": screen])
                    #expect(selected["error"] == nil, "\(selected)")
                    let next = try JSON.decode(JSONValue.self, from: try await lines.next())
                    #expect(next["revision"]?.int == selected["parameters"]?["revision"]?.int)
                    #expect((next["lists"]?[0]?["total"]?.int ?? 0) > total)
                }
            }
        }

        private static func names(_ daemon: DaemonUnderTest) async throws -> [String] {
            let described = try await daemon.type("atriumctl describe films --json")
            let components = try described.json["container"]?["components"]?.array ?? []
            return components.compactMap { $0["name"]?.string }
        }

        private static func type(_ daemon: DaemonUnderTest, _ line: String) async throws {
            let done = try await daemon.type(line)
            #expect(done.status == 0, "\(line): \(done)")
        }
    }
}
