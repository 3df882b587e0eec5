import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What clients say to each other, and what can't be told any more.
    @Suite struct Bus {
        @Test func `what one publishes the others hear, and what is durable is kept`() async throws
        {
            try await withFilms { daemon in
                try await daemon.follow("atriumctl watch 'films.app.*' --json") { lines in
                    _ = try await lines.next()
                    let durable = try await daemon.type(
                        "atriumctl publish films.app.screening '{\"at\":\"20:00\"}' --durable --json"
                    )
                    let sequence = try #require(try durable.json["sequence"]?.int)
                    let heard = try JSON.decode(JSONValue.self, from: try await lines.next())
                    #expect(heard["notifications"]?[0]?["sequence"]?.int == sequence)
                    #expect(heard["notifications"]?[0]?["payload"]?["at"]?.string == "20:00")

                    let passing = try await daemon.type(
                        "atriumctl publish films.app.hello '{}'")
                    #expect(passing.status == 0, "\(passing)")
                    let next = try JSON.decode(JSONValue.self, from: try await lines.next())
                    #expect(next["notifications"]?[0]?["topic"]?.string == "films.app.hello")
                    #expect(next["notifications"]?[0]?["sequence"]?.int == nil)
                }
                let kept = try await Self.firstReply(daemon, ["films.app.>"], after: 0)
                let topics = (kept["notifications"]?.array ?? []).compactMap { $0["topic"]?.string }
                #expect(topics == ["films.app.screening"])
            }
        }

        @Test func `watching goes on after a crash and a restart: nothing twice, nothing left out`()
            async throws
        {
            try await withFilms { daemon in
                try await daemon.follow("timeout 60 atriumctl watch 'films.app.*' --json") {
                    lines in
                    _ = try await lines.next()
                    try await Self.publish(1, daemon, &lines)
                    try await daemon.kill()
                    try await daemon.start()
                    try await Self.publish(2, daemon, &lines)
                    try await Self.publish(3, daemon, &lines)
                    #expect(try await daemon.stop() == 0)
                    try await daemon.start()
                    try await Self.publish(4, daemon, &lines)
                }
            }
        }

        /// Publishes a number, which is what is heard next, and all that is.
        private static func publish(
            _ number: Int, _ daemon: DaemonUnderTest, _ lines: inout RunningCommand
        ) async throws {
            let told = try await daemon.type(
                "atriumctl publish films.app.count '{\"number\":\(number)}' --durable")
            #expect(told.status == 0, "\(told)")
            let heard = try JSON.decode(JSONValue.self, from: try await lines.next())
            #expect(heard["gap"] == nil)
            #expect(
                heard["notifications"]?.array?.map { $0["payload"]?["number"]?.int } == [number])
        }

        @Test func `a cursor ahead of the store is a gap, not silence`() async throws {
            try await withFilms { daemon in
                let reply = try await Self.firstReply(daemon, [">"], after: 1_000_000)
                #expect(reply["gap"]?.object != nil, "\(reply)")
            }
        }

        @Test func `clients publish under the container's app alone`() async throws {
            try await withFilms { daemon in
                let foreign = try await daemon.type("atriumctl publish films.votes.cast '{}'")
                #expect(foreign.status == 1)
                #expect(foreign.errors.contains("films.app"), "\(foreign.errors)")
                let nowhere = try await daemon.type("atriumctl publish songs.app.x '{}'")
                #expect(nowhere.status == 1)
            }
        }

        /// What the first reply says that has notifications or a gap.
        private static func firstReply(
            _ daemon: DaemonUnderTest, _ topics: [String], after: Int
        ) async throws -> JSONValue {
            let peer = try daemon.peer()
            try await peer.send(
                Peer.frame(
                    "org.atrium.Notifications.Subscribe",
                    [
                        "topics": .array(topics.map { .string($0) }), "after": .int(Int64(after)),
                    ], more: true))
            while let reply = try await peer.receive() {
                #expect(reply["error"] == nil, "\(reply)")
                let said = reply["parameters"] ?? [:]
                if said["gap"]?.object != nil || said["notifications"]?[0] != nil { return said }
            }
            throw NoMoreLines()
        }
    }
}
