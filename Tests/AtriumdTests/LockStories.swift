import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Another process holds the lock of the store's file, as a forgotten sqlite3 shell does.
    @Suite struct Locks {
        private static let connections = 50
        private static let votes = 500

        @Test
        func `while the store is locked all are answered, and afterwards votes are taken again`()
            async throws
        {
            try await withFilms { daemon in
                let holder = """
                    python3 -c 'import sqlite3, sys
                    file = sqlite3.connect("\(daemon.home.path)/state/atrium.sqlite")
                    file.isolation_level = None
                    file.execute("BEGIN EXCLUSIVE")
                    print("held", flush=True)
                    sys.stdin.read()'
                    """
                try await daemon.follow(holder) { lines in
                    #expect(try await lines.next() == "held")
                    // Until all of this is answered the lock stays.
                    try await Self.voteTogether(daemon)
                    let peer = try daemon.peer()
                    let status = try await peer.call("org.atrium.Daemon.Status")
                    let problems = status["parameters"]?["problems"]?.array ?? []
                    #expect(problems.contains { $0.string?.contains("locked") == true })
                    let list = try await peer.call(
                        "org.atrium.Contents.List", ["container": "films"])
                    #expect(list["error"] == nil, "\(list)")
                }
                // Writing goes on by itself; until it does, every call says so.
                let peer = try daemon.peer()
                var vote = try await peer.call("org.atrium.Votes.Cast", Self.vote(3))
                while vote["error"]?.string == "org.atrium.Votes.StoreUnavailable" {
                    vote = try await peer.call("org.atrium.Votes.Cast", Self.vote(3))
                }
                #expect(vote["parameters"]?["tally"]?["count"]?.int == 1, "\(vote)")
            }
        }

        private static func vote(_ value: Int) -> JSONValue {
            ["container": "films", "item": "alien-1979", "value": .int(Int64(value))]
        }

        /// Many vote at once without waiting for answers; each gets one for every vote.
        private static func voteTogether(_ daemon: DaemonUnderTest) async throws {
            let voters = try (0..<connections).map { _ in try daemon.peer() }
            let reader = try daemon.peer()
            // Every other one is a repetition: its answer rests on the one before.
            let frames = (0..<votes).flatMap {
                Peer.frame("org.atrium.Votes.Cast", vote(1 + $0 / 2 % 5))
            }
            for (place, voter) in voters.enumerated() {
                try await voter.send(frames)
                guard place % 5 == 0 else { continue }
                // Others are answered meanwhile.
                let status = try await reader.call("org.atrium.Daemon.Status")
                #expect(status["error"] == nil, "\(status)")
                let tally = try await reader.call(
                    "org.atrium.Votes.Tally",
                    ["container": "films", "item": "alien-1979"])
                #expect(tally["parameters"]?["tally"]?["count"]?.int == 0, "\(tally)")
            }
            for voter in voters {
                for _ in 0..<votes {
                    let reply = try await voter.receive()
                    #expect(
                        reply?["error"]?.string == "org.atrium.Votes.StoreUnavailable",
                        "\(String(describing: reply))")
                }
            }
        }
    }
}
