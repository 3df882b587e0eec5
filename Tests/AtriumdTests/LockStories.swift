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
                try await Self.whileLocked(daemon) {
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

        @Test
        func `while the store is locked, structure stays as it is, and what is there can be read`()
            async throws
        {
            try await withFilms { daemon in
                try await Self.whileLocked(daemon) {
                    let peer = try daemon.peer()
                    for (method, parameters) in Self.changes {
                        // Each is answered before the lock goes.
                        let reply = try await peer.call(
                            "org.atrium.Containers.\(method)", parameters)
                        #expect(
                            reply["error"]?.string == "org.atrium.Containers.StoreUnavailable",
                            "\(method): \(reply)")
                        let status = try await peer.call("org.atrium.Daemon.Status")
                        #expect(status["error"] == nil, "\(status)")
                    }
                    let records = try await Self.export(daemon)
                    #expect(records > 100)
                }
                // It is as it was, and changes as soon as that is possible.
                let peer = try daemon.peer()
                let again: JSONValue = ["container": "films", "component": "talk", "hidden": true]
                var reply = try await peer.call("org.atrium.Containers.SetHidden", again)
                while reply["error"]?.string == "org.atrium.Containers.StoreUnavailable" {
                    reply = try await peer.call("org.atrium.Containers.SetHidden", again)
                }
                #expect(reply["error"] == nil, "\(reply)")
                let found = try await peer.call(
                    "org.atrium.Containers.Describe", ["container": "films"])
                let components = found["parameters"]?["container"]?["components"]?.array ?? []
                #expect(
                    components.map { $0["name"]?.string } == ["filters", "list", "stars", "talk"],
                    "\(found)")
                #expect(found["parameters"]?["container"]?["title"]?.string == "Film club")
            }
        }

        @Test func `a daemon whose store is locked stops, and goes on with all that it had`()
            async throws
        {
            try await withFilms { daemon in
                let voted = try await daemon.peer().call("org.atrium.Votes.Cast", Self.vote(4))
                #expect(voted["error"] == nil, "\(voted)")
                try await Self.whileLocked(daemon) {
                    let vote = try await daemon.peer().call("org.atrium.Votes.Cast", Self.vote(3))
                    #expect(vote["error"]?.string == "org.atrium.Votes.StoreUnavailable")
                    // It leaves the log of its store as it is.
                    #expect(try await daemon.stop() == 0)
                }
                try await daemon.start()
                let tally = try await daemon.peer().call(
                    "org.atrium.Votes.Tally", ["container": "films", "item": "alien-1979"])
                #expect(tally["parameters"]?["tally"]?["score"]?.double == 19.0 / 6, "\(tally)")
            }
        }

        /// Changes of the structure, one of each kind.
        private static var changes: [(String, JSONValue)] {
            let club = """
                atrium: 1
                container: films
                title: Another club
                fields:
                  title: { type: text, required: true }
                  genres: { type: keywords }
                  duration: { type: duration }
                  rating: { type: number }
                  year: { type: integer }
                components: [{ name: list, plugin: org.atrium.catalog }]
                """
            let films: JSONValue = ["container": "films"]
            let more: JSONValue = [
                "container": "films", "component": "more", "plugin": "org.atrium.stars",
            ]
            let stars: JSONValue = ["container": "films", "component": "stars"]
            return [
                ("Apply", ["definitions": [["file": "club.yaml", "text": .string(club)]]]),
                ("Attach", more),
                ("Detach", stars),
                ("Detach", ["container": "films", "component": "stars", "purge": true]),
                ("Move", ["container": "films", "component": "stars", "at": 0]),
                ("SetHidden", ["container": "films", "component": "stars", "hidden": true]),
                ("Delete", films),
                ("Delete", ["container": "films", "purge": true]),
            ]
        }

        /// - Returns: how many records there are.
        private static func export(_ daemon: DaemonUnderTest) async throws -> Int {
            let peer = try daemon.peer()
            let method = "org.atrium.Containers.Export"
            try await peer.send(Peer.frame(method, ["container": "films"], more: true))
            var count = 0
            while let part = try await peer.receive() {
                #expect(part["error"] == nil, "\(part)")
                count += part["parameters"]?["records"]?.array?.count ?? 0
                guard part["continues"] == true else { break }
            }
            return count
        }

        /// Runs something while another process holds the lock.
        private static func whileLocked(
            _ daemon: DaemonUnderTest, _ body: () async throws -> Void
        ) async throws {
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
                try await body()
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
