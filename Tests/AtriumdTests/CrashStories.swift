import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// `kill -9`: what was acknowledged is there, and the rest is whole or not at all.
    @Suite struct Crashes {
        private static let batch = 100
        private static let batches = 60
        private static let definition = """
            atrium: 1
            container: parts
            fields:
              batch: { type: integer, required: true }
            components:
              - { name: list, plugin: org.atrium.catalog }
              - { name: stars, plugin: org.atrium.stars, settings: { subjects: [items] } }
              - { name: talk, plugin: org.atrium.threads, settings: { subjects: [items] } }
            """

        @Test func `a kill in the middle of an import loses no acknowledged batch and halves none`()
            async throws
        {
            try await withDaemon { daemon in
                try await Self.apply(daemon)
                let acknowledged = try await Self.importHalf(daemon)
                #expect(acknowledged >= Self.batches / 2)

                try await daemon.start()
                let kept = try await Self.itemsByBatch(daemon)
                for batch in 0..<acknowledged { #expect(kept[batch] == Self.batch, "\(batch)") }
                #expect(kept.values.allSatisfy { $0 == Self.batch }, "no batch is halved")

                try await Self.vote(daemon, "part-0-0")
                let lines = (0..<Self.batches).flatMap(Self.lines).joined(separator: "\n")
                try daemon.home.write("parts.ndjson", lines)
                let again = try await daemon.type("atriumctl import parts parts.ndjson --json")
                let there = kept.count * Self.batch
                #expect(try again.json["unchanged"]?.int == there)
                #expect(try again.json["inserted"]?.int == Self.batch * Self.batches - there)
                #expect(try again.json["updated"]?.int == 0)
                #expect(try await Self.itemsByBatch(daemon).count == Self.batches)
                let item = try await daemon.type("atriumctl describe parts/part-0-0 --json")
                #expect(try item.json["item"]?["votes"]?["count"]?.int == 1)
            }
        }

        @Test func `votes and comments survive 50 kills in a row`() async throws {
            try await withDaemon { daemon in
                try await Self.apply(daemon)
                try await daemon.peer().put(Self.items(0))
                for round in 1...50 {
                    let peer = try daemon.peer()
                    let value = round % 5 + 1
                    let vote = try await peer.call(
                        "org.atrium.Votes.Cast",
                        [
                            "container": "parts", "item": .string("part-0-\(round % 10)"),
                            "value": .double(Double(value)),
                        ])
                    #expect(vote["error"] == nil, "round \(round): \(vote)")
                    let comment = try await peer.call(
                        "org.atrium.Comments.Post",
                        [
                            "container": "parts", "item": "part-0-0",
                            "text": .string("round \(round)"),
                            "id": .string("c-\(round)"),
                        ])
                    #expect(comment["error"] == nil, "round \(round): \(comment)")
                    let sequence = comment["parameters"]?["sequence"]?.int
                    try await daemon.kill()
                    try await daemon.start()
                    try await Self.expect(daemon, round, value, sequence)
                }
            }
        }

        private static func expect(
            _ daemon: DaemonUnderTest, _ round: Int, _ value: Int, _ sequence: Int?
        ) async throws {
            let peer = try daemon.peer()
            let tally = try await peer.call(
                "org.atrium.Votes.Tally",
                [
                    "container": "parts", "item": .string("part-0-\(round % 10)"),
                    "actor": .string("unix:\(geteuid())"),
                ])
            #expect(
                tally["parameters"]?["tally"]?["mine"]?.double == Double(value), "round \(round)")
            #expect(tally["parameters"]?["tally"]?["count"]?.int == 1)
            let thread = try await peer.call(
                "org.atrium.Comments.Thread",
                ["container": "parts", "item": "part-0-0", "limit": 1, "order": "newest"])
            #expect(thread["parameters"]?["total"]?.int == round)
            #expect(thread["parameters"]?["comments"]?[0]?["id"]?.string == "c-\(round)")
            #expect(thread["parameters"]?["sequence"]?.int == sequence)
        }

        /// Sends every batch at once, and kills the daemon when half of them are acknowledged.
        ///
        /// - Returns: how many were acknowledged in the end.
        private static func importHalf(_ daemon: DaemonUnderTest) async throws -> Int {
            let peer = try daemon.peer()
            let frames = (0..<batches).flatMap { Peer.put(items($0)) }
            async let sent = onThread { peer.trySending(frames) }
            var acknowledged = 0
            while let reply = try await peer.receive() {
                guard reply["error"] == nil else { break }
                acknowledged += 1
                if acknowledged == batches / 2 { daemon.signal(SIGKILL) }
            }
            _ = try await sent
            #expect(try await daemon.ended() == 128 + Int(SIGKILL))
            return acknowledged
        }

        private static func apply(_ daemon: DaemonUnderTest) async throws {
            try daemon.home.write("parts.yaml", definition)
            let applied = try await daemon.type("atriumctl apply -f parts.yaml")
            #expect(applied.status == 0, "\(applied)")
        }

        private static func vote(_ daemon: DaemonUnderTest, _ item: String) async throws {
            let vote = try await daemon.type("atriumctl vote parts/\(item) 3")
            #expect(vote.status == 0, "\(vote)")
        }

        private static func items(_ number: Int) -> [JSONValue] {
            (0..<batch).map {
                ["id": .string("part-\(number)-\($0)"), "fields": ["batch": .int(Int64(number))]]
            }
        }

        private static func lines(_ number: Int) -> [String] {
            items(number).map { String(decoding: JSON.encode($0), as: UTF8.self) }
        }

        private static func itemsByBatch(_ daemon: DaemonUnderTest) async throws -> [Int: Int] {
            let pages = try await daemon.type("atriumctl list parts --all --limit 1000 --json")
            let items = try pages.jsonLines.flatMap { $0["items"]?.array ?? [] }
            let numbers = items.compactMap { $0["fields"]?["batch"]?.int }
            return Dictionary(grouping: numbers) { $0 }.mapValues(\.count)
        }
    }
}

extension Peer {
    /// A call that puts items into the container `parts`.
    fileprivate static func put(_ items: [JSONValue]) -> [UInt8] {
        frame("org.atrium.Contents.Put", ["container": "parts", "items": .array(items)])
    }

    fileprivate func put(_ items: [JSONValue]) async throws {
        try await send(Self.put(items))
        let reply = try await receive()
        #expect(reply?["error"] == nil, "\(String(describing: reply))")
    }
}
