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

        /// Puts votes and comments into workers, or leaves them in the daemon.
        private static func isolate(_ isolation: String, _ daemon: DaemonUnderTest) async throws {
            let done = try await daemon.type(
                "sed -E 's/(plugin: org.atrium.(catalog|stars|threads))/\\1, isolation: \(isolation)/' "
                    + "$EXAMPLES/films.yaml >own.yaml && atriumctl apply -f own.yaml")
            #expect(done.status == 0, "\(done)")
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

        @Test(arguments: ["daemon", "process"])
        func `a store of which all is well is verified with exit status 0`(
            isolation: String
        ) async throws {
            try await withFilms { daemon in
                try await Self.isolate(isolation, daemon)
                try await Self.fill(daemon)
                let table = try await daemon.type("atriumctl verify")
                #expect(table.status == 0, "\(table)")
                for line in [
                    "CONTAINER COMPONENT KIND RECORDS FOUND", "films list contents 125 ok",
                    "films stars votes 2 ok", "films talk comments 2 ok", "definitions 1 ok",
                    "Nothing is wrong.",
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

        /// The guide's steps.
        @Test func `what is left of a damaged store is exported, and a new store with it is whole`()
            async throws
        {
            try await withFilms { daemon in
                try await Self.fill(daemon)
                try await daemon.stop()
                // Of this row nothing is lost but its sum.
                try await Self.change(
                    "UPDATE records SET sum = sum + 1 WHERE CAST(key AS TEXT) = 'alien-1979'",
                    daemon
                )
                try await daemon.start()
                for command in ["atriumctl export films --all", "atriumctl export films"] {
                    let refused = try await daemon.type(command)
                    #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
                    #expect(refused.errors.contains("'alien-1979'"), "\(refused)")
                }
                let items = try await daemon.type("atriumctl export films --damaged")
                #expect(items.status == 1 && items.lines.count == 125, "\(items)")
                #expect(items.errors.contains("missing: list: It has 1 record that"), "\(items)")
                let left = try await daemon.type(
                    "atriumctl export films --all --damaged >films.ndjson")
                #expect(left.status == 1)
                #expect(
                    left.errors.hasPrefix(
                        "missing: the record 'alien-1979' of list can't be read\n"), "\(left)")
                try await daemon.stop()
                _ = try await daemon.type("mv state state.damaged")
                try await daemon.start()
                let done = try await daemon.type(
                    "atriumctl apply -f $EXAMPLES/films.yaml && atriumctl import films films.ndjson"
                )
                #expect(done.status == 0, "\(done)")
                let verified = try await daemon.type("atriumctl verify")
                #expect(verified.status == 0, "\(verified)")
                let status = try await daemon.type("atriumctl status")
                #expect(status.lines.first?.hasSuffix(": ready") == true, "\(status)")
                let put = try await daemon.type(
                    "grep alien-1979 $EXAMPLES/films.ndjson | atriumctl import films -")
                #expect(put.status == 0, "\(put)")
                let all = try await daemon.type("atriumctl export films --all")
                #expect(all.status == 0 && all.lines.count == 1 + 125 + 2 + 2, "\(all)")
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `a ballot that is gone from the file is reported, degrades, and ends with status 1`(
            isolation: String
        ) async throws {
            try await withFilms { daemon in
                try await Self.isolate(isolation, daemon)
                try await Self.fill(daemon)
                // A stop makes what waits to the records.
                try await daemon.stop()
                try await daemon.start()
                try await Self.change(
                    "DELETE FROM records WHERE CAST(key AS TEXT) LIKE 'alien-1979' || char(10) || '%'",
                    daemon)
                let found = try await daemon.type("atriumctl verify films")
                #expect(found.status == 1)
                #expect(found.output.contains("films/stars: 1 record is missing of 2"), "\(found)")
                #expect(found.output.contains("films/stars: 1 tally differs"), "\(found)")
                #expect(found.output.contains("restore a backup"))
                let status = try await daemon.type("atriumctl status")
                #expect(status.output.contains("degraded"))
                #expect(status.output.contains("films/stars is damaged"), "\(status.output)")
                #expect(daemon.log.contains("the verification found damage"))
            }
        }

        /// What is done to the file of a daemon that is stopped, and what is told of it then.
        struct Harm: Sendable, CustomTestStringConvertible {
            var sql: String
            var component: String
            var status: String
            var verified: String
            var export: String
            var testDescription: String { sql }
        }

        private static let film = "key = CAST('alien-1979' AS BLOB)"
        private static let ballot = "CAST(key AS TEXT) LIKE 'alien-1979' || char(10) || '%'"

        @Test(arguments: [
            Harm(
                sql: """
                    UPDATE records SET value = CAST(replace(CAST(value AS TEXT), 'Alien', 'Alyen') AS BLOB)
                    WHERE \(film)
                    """,
                component: "list", status: "has 1 record that can't be read ('alien-1979')",
                verified: "films/list: 1 record does not match its checksum",
                export: "the record 'alien-1979' of list can't be read"),
            Harm(
                sql: """
                    UPDATE records SET value = CAST(replace(CAST(value AS TEXT), '5', '1') AS BLOB)
                    WHERE \(ballot)
                    """,
                component: "stars", status: "has 1 record that can't be read",
                verified: "films/stars: 1 record does not match its checksum",
                export: "of stars can't be read"),
            Harm(
                sql: "DELETE FROM records WHERE key = CAST('first' AS BLOB)", component: "talk",
                status: "lost some of its records: 1 record is missing of 2",
                verified: "films/talk: 1 record is missing of 2",
                export: "of talk, 1 record is missing of 2"),
            Harm(
                sql: "UPDATE records SET sum = 7, created = 9 WHERE \(film)", component: "list",
                status: "has 1 record that can't be read ('alien-1979')",
                verified: "films/list: 1 record does not match its checksum",
                export: "the record 'alien-1979' of list can't be read"),
        ])
        func `damage of the file is reported by a start, by verify, and by an export that fails`(
            _ harm: Harm
        ) async throws {
            try await withFilms { daemon in
                try await Self.fill(daemon)
                try await daemon.stop()
                try await Self.change(harm.sql, daemon)
                try await daemon.start()
                let status = try await daemon.type("atriumctl status")
                #expect(status.output.contains("degraded"))
                #expect(
                    status.output.contains("films/\(harm.component) \(harm.status)"),
                    "\(status.output)")
                let found = try await daemon.type("atriumctl verify")
                #expect(found.status == 1)
                #expect(found.output.contains(harm.verified), "\(found.output)")
                let export = try await daemon.type("atriumctl export films --all")
                #expect(export.status == 1)
                #expect(export.errors.contains(harm.export), "\(export.errors)")
                // It serves what is whole, and nothing was mended.
                let list = try await daemon.type("atriumctl list films --limit 3")
                #expect(list.status == 0)
                #expect(try await daemon.type("atriumctl verify --json").status == 1)
            }
        }

        @Test func `damage of the log and of a definition is reported by verify`() async throws {
            try await withFilms { daemon in
                try await Self.fill(daemon)
                try await Self.change(
                    "UPDATE entries SET public = x'00' WHERE sequence = 2", daemon)
                try await Self.change("DELETE FROM entries WHERE sequence = 4", daemon)
                let log = try await daemon.type("atriumctl verify")
                #expect(log.status == 1)
                #expect(
                    log.output.contains(
                        "the store: 1 entry of the log does not match its checksum"),
                    "\(log.output)")
                #expect(log.output.contains("the store: 1 entry of the log is missing"))
                let status = try await daemon.type("atriumctl status")
                #expect(status.output.contains("The store is damaged"), "\(status.output)")
                try await daemon.stop()
                try await Self.change(
                    "DELETE FROM records WHERE key = CAST('films' AS BLOB)", daemon)
                try await daemon.start()
                let lost = try await daemon.type("atriumctl status")
                #expect(
                    lost.output.contains(
                        "of the definitions of containers, 1 record is missing of 1"),
                    "\(lost.output)")
            }
        }

        /// Writes over the first page of a table, or over the first of those that have its rows.
        private static func breakTable(
            _ name: String, rows: Bool = false, _ daemon: DaemonUnderTest
        ) async throws {
            try daemon.home.write(
                "break.py",
                """
                import sqlite3, sys
                path = "\(daemon.home.path)/state/atrium.sqlite"
                file = sqlite3.connect(path)
                (page,) = file.execute(
                    "SELECT rootpage FROM sqlite_schema WHERE name = ?", [sys.argv[1]]).fetchone()
                (size,) = file.execute("PRAGMA page_size").fetchone()
                file.close()
                with open(path, "r+b") as file:
                    if len(sys.argv) > 2:
                        file.seek((page - 1) * size)
                        root = file.read(size)
                        assert root[0] == 5, "all of its rows are in one page"
                        cell = int.from_bytes(root[12:14], "big")
                        page = int.from_bytes(root[cell:cell + 4], "big")
                    file.seek((page - 1) * size)
                    file.write(bytes([0xff]))
                """)
            let done = try await daemon.type("python3 break.py \(name) \(rows ? "rows" : "")")
            #expect(done.status == 0, "\(done)")
        }

        /// The first is found when the store is opened, the second when the containers are read.
        @Test(arguments: ["meta", "records"])
        func `a start that finds the store damaged ends with 65 and says what to do`(
            table: String
        ) async throws {
            try await withFilms { daemon in
                try await Self.fill(daemon)
                let made = try await daemon.type("atriumctl backup copy")
                #expect(made.status == 0, "\(made)")
                try await daemon.stop()
                try await Self.breakTable(table, daemon)
                for _ in 0..<2 {
                    let before = daemon.log.utf8.count
                    try await daemon.begin()
                    #expect(try await daemon.ended() == 65)
                    let log = String(decoding: daemon.log.utf8.dropFirst(before), as: UTF8.self)
                    let said = try #require(
                        log.split(separator: "\n").first {
                            $0.contains("the store is damaged: the daemon can't start")
                        }, "\(log)")
                    #expect(said.contains("\(daemon.home.path)/state/atrium.sqlite is damaged"))
                    #expect(said.contains("SQLite error 11"))
                    #expect(said.contains("restore a backup"))
                }
                let restored = try await daemon.type(
                    "atriumctl restore copy --replace --state-directory state")
                #expect(restored.status == 0, "\(restored)")
                try await daemon.start()
                let voted = try await daemon.type("atriumctl vote films/heat-1995 4")
                #expect(voted.status == 0, "\(voted)")
                let verified = try await daemon.type("atriumctl verify")
                #expect(verified.status == 0, "\(verified)")
                let status = try await daemon.type("atriumctl status")
                #expect(status.lines.first?.hasSuffix(": ready") == true, "\(status)")
            }
        }

        @Test func `a start without the database that was there ends with 65, and names both ways`()
            async throws
        {
            try await withFilms { daemon in
                let made = try await daemon.type("atriumctl backup copy")
                #expect(made.status == 0, "\(made)")
                try await daemon.stop()
                _ = try await daemon.type("rm state/atrium.sqlite")
                try await daemon.begin()
                #expect(try await daemon.ended() == 65)
                #expect(daemon.log.contains("the store is damaged: the daemon can't start"))
                #expect(daemon.log.contains("state/atrium.sqlite is gone or empty"))
                #expect(daemon.log.contains("state/atrium.* away to start empty"))
                let restored = try await daemon.type(
                    "test ! -e state/atrium.sqlite && atriumctl restore copy --state-directory state"
                )
                #expect(restored.status == 0, "\(restored)")
                try await daemon.start()
                let list = try await daemon.type("atriumctl list films --limit 3")
                #expect(list.status == 0, "\(list)")
            }
        }

        @Test func `damage that SQLite finds is not forgotten by a restart`() async throws {
            try await withFilms { daemon in
                let text = JSONValue.string(String(repeating: "x", count: 1_500))
                let peer = try daemon.peer()
                for _ in 0..<20 {
                    let sent = try await peer.call(
                        "org.atrium.Notifications.Publish",
                        [
                            "topic": "films.app.note", "payload": ["text": text],
                            "durable": true,
                        ])
                    #expect(sent["error"] == nil, "\(sent)")
                }
                try await daemon.stop()
                try await Self.breakTable("entries", rows: true, daemon)
                try await daemon.start()
                // What counts the past reads it all.
                try await until {
                    try await daemon.type("atriumctl status").output.contains("takes no writes")
                }
                for _ in 0..<2 {
                    let status = try await daemon.type("atriumctl status")
                    #expect(status.output.contains("degraded"), "\(status)")
                    #expect(status.output.contains("takes no writes"), "\(status)")
                    let vote = try await daemon.type("atriumctl vote films/heat-1995 4")
                    #expect(vote.status != 0, "\(vote)")
                    let list = try await daemon.type("atriumctl list films --limit 3")
                    #expect(list.status == 0, "\(list)")
                    try await daemon.stop()
                    try await daemon.start()
                }
                #expect(daemon.log.contains("the store is damaged: it is read-only"))
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
