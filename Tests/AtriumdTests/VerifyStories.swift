import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Damage of the store: found, told with what to do, and not mended in silence.
    @Suite struct VerifyStories {
        /// Votes and comments, so that there is something of each kind.
        private static func fill(_ daemon: DaemonUnderTest) async throws {
            for line in [
                "atriumctl vote films/alien-1979 5", "atriumctl vote films 4",
                "atriumctl comment films/alien-1979 'In space.' --id first",
                "atriumctl reply films first 'Nobody hears.' --id second",
            ] {
                let done = try await daemon.type(line)
                #expect(done.status == 0, "\(line): \(done)")
            }
        }

        /// Changes the store's file as no program of ours does.
        private static func change(_ sql: String, _ daemon: DaemonUnderTest) async throws {
            let script = """
                import sqlite3, sys
                file = sqlite3.connect("\(daemon.home.path)/state/atrium.sqlite")
                file.execute(sys.argv[1])
                file.commit()
                """
            try daemon.home.write("change.py", script)
            try daemon.home.write("change.sql", sql)
            let done = try await daemon.type("python3 change.py \"$(cat change.sql)\"")
            #expect(done.status == 0, "\(done)")
        }

        @Test func `a store of which all is well is verified with exit status 0`() async throws {
            try await withFilms { daemon in
                try await Self.fill(daemon)
                let table = try await daemon.type("atriumctl verify")
                #expect(table.status == 0, "\(table)")
                for line in [
                    "CONTAINER COMPONENT KIND RECORDS FOUND", "films list contents 125 ok",
                    "films stars votes 2 ok", "films talk comments 2 ok", "Nothing is wrong.",
                ] {
                    let words = table.lines.map { $0.split(separator: " ").joined(separator: " ") }
                    #expect(words.contains(line), "\(table.output)")
                }
                let json = try await daemon.type("atriumctl verify films --json")
                #expect(json.status == 0 && json.lines.count == 1)
                #expect(try json.json["damage"]?.array?.isEmpty == true)
                #expect(try json.json["checked"]?.array?.count == 3)
                let unknown = try await daemon.type("atriumctl verify filns")
                #expect(unknown.status == 1)
                #expect(unknown.errors.contains("did you mean 'films'"), "\(unknown.errors)")
            }
        }

        @Test func `a ballot that is gone from the file is told, degrades, and ends with status 1`()
            async throws
        {
            try await withFilms { daemon in
                try await Self.fill(daemon)
                try await Self.change(
                    "DELETE FROM records WHERE CAST(key AS TEXT) LIKE 'alien-1979' || char(10) || '%'",
                    daemon)
                let found = try await daemon.type("atriumctl verify films")
                #expect(found.status == 1)
                #expect(found.output.contains("films/stars: 1 tally differs"), "\(found.output)")
                #expect(found.output.contains("Restart the daemon"))
                let status = try await daemon.type("atriumctl status")
                #expect(status.output.contains("degraded"))
                #expect(status.output.contains("films/stars is damaged"), "\(status.output)")
                #expect(daemon.log.contains("a component is damaged"))
            }
        }

        @Test func `who goes away while it verifies ends it, and the next one may begin`()
            async throws
        {
            try await withFilms { daemon in
                for _ in 0..<5 {
                    // It is closed with the last who refers to it.
                    try await daemon.peer().send(
                        Peer.frame("org.atrium.Store.Verify", [:], more: true))
                }
                try await until { try await daemon.type("atriumctl verify").status == 0 }
            }
        }
    }
}
