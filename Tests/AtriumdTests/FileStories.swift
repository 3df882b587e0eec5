import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A list that is a file of somebody else's.
    @Suite struct Files {
        /// Puts a file in place of the one of before, as editors do.
        private static func write(_ daemon: DaemonUnderTest, _ text: String) throws {
            try daemon.home.write("shelf/books.new", text)
            let folder = daemon.home.path + "/shelf"
            guard rename(folder + "/books.new", folder + "/books.csv") == 0 else {
                throw SystemFailure(folder)
            }
        }

        private static func apply(
            _ daemon: DaemonUnderTest, isolation: String, naming path: String? = nil
        ) async throws {
            let place = path.map { "path: \($0)" }
            let folder = "path: \(daemon.home.path)/shelf\n      file: books.csv"
            try daemon.home.write(
                "books.yaml",
                """
                atrium: 1
                container: books
                fields:
                  title: { type: text, required: true, search: true }
                  year: { type: integer }
                components:
                  - name: list
                    plugin: org.atrium.file
                    isolation: \(isolation)
                    settings:
                      \(place ?? folder)
                      id: ISBN
                      fields: { title: Name }
                """)
            let made = try await daemon.type("atriumctl apply -f \(daemon.home.path)/books.yaml")
            #expect(made.status == 0, "\(made)")
        }

        private static func status(_ peer: Peer) async throws -> JSONValue {
            let reply = try await peer.call(
                "org.atrium.Containers.Describe", ["container": "books"])
            return try #require(reply["parameters"]?["container"], "\(reply)")
        }

        @Test(arguments: ["daemon", "process"])
        func `screens follow a table, keep its last good copy, and show where it is broken`(
            isolation: String
        ) async throws {
            try await withDaemon { daemon in
                try Self.write(daemon, "ISBN;Name;Year\n1;Odyssey;\n2;Emma;1815\n")
                try await Self.apply(daemon, isolation: isolation)
                let peer = try daemon.peer()
                try await until { try await Self.status(peer)["state"]?.string == "ready" }
                let screen = try await OpenScreen(daemon, ["container": "books"])
                #expect(screen.ids("list") == ["1", "2"])

                try Self.write(daemon, "ISBN;Name;Year\n2;Emma;1815\n3;Ulysses;1922\n")
                while screen.ids("list") != ["2", "3"] { try await screen.next() }

                try Self.write(daemon, "ISBN;Name;Year\n2;Emma;1815\n3;Ulysses;MCMXXII\n")
                while screen.problem("list") == nil { try await screen.next() }
                #expect(screen.ids("list") == ["2", "3"])
                let status = try await Self.status(peer)
                #expect(status["state"]?.string == "degraded")
                let reason = try #require(status["reason"]?.string)
                #expect(
                    reason.contains(
                        "books.csv: line 3, column 3: 'Year': expected a whole number, found 'MCMXXII'"
                    ),
                    "\(reason)")

                try Self.write(daemon, "ISBN;Name;Year\n3;Ulysses;1922\n")
                while screen.ids("list") != ["3"] || screen.problem("list") != nil {
                    try await screen.next()
                }
                #expect(try await Self.status(peer)["state"]?.string == "ready")
                let refused = try await daemon.type("atriumctl put books/4 title=Mine")
                #expect(refused.errors.contains("books.csv: change that"), "\(refused)")
            }
        }

        @Test func `init writes a definition whose list is the file`() async throws {
            try await withDaemon { daemon in
                try daemon.home.write(
                    "new.csv",
                    "Signatur;Titel;Sachgebiet\nRom 12;Die Wand;Roman\nKri 4;Der Richter;Krimi\n")
                let made = try await daemon.type("atriumctl init new.csv --follow --yes")
                #expect(made.status == 0, "\(made)")
                let screen = try await OpenScreen(daemon, ["container": "new"])
                while screen.ids("list") != ["Kri 4", "Rom 12"] { try await screen.next() }
                let changed = try await daemon.type("echo 'Rom 13;Malina;Roman' >> new.csv")
                #expect(changed.status == 0, "\(changed)")
                while screen.ids("list") != ["Kri 4", "Rom 12", "Rom 13"] {
                    try await screen.next()
                }
                let bad = try await daemon.type(
                    "echo '\"x' >> new.csv; atriumctl init new.csv --follow --name other --yes")
                #expect(bad.errors.contains("can't be followed: line 5"), "\(bad)")
            }
        }

        @Test
        func `a file may come later than its folder, and its folder later than the container`()
            async throws
        {
            try await withDaemon { daemon in
                try await Self.apply(daemon, isolation: "daemon")
                let peer = try daemon.peer()
                try await until { try await Self.status(peer)["state"]?.string == "degraded" }
                let reason = try await Self.status(peer)["reason"]?.string
                #expect(reason?.contains("books.csv: it is not there") == true, "\(reason ?? "")")
                let screen = try await OpenScreen(daemon, ["container": "books"])
                try Self.write(daemon, "ISBN;Name\n1;Odyssey\n")
                while screen.ids("list") != ["1"] { try await screen.next() }
                try await until { try await Self.status(peer)["state"]?.string == "ready" }
            }
        }

        /// A worker may read the file that was there when it started; it is started again for another.
        @Test func `a worker that was given the file alone follows one that takes its place`()
            async throws
        {
            try await withDaemon { daemon in
                try Self.write(daemon, "ISBN;Name\n1;Odyssey\n")
                let file = daemon.home.path + "/shelf/books.csv"
                try await Self.apply(daemon, isolation: "process", naming: file)
                let peer = try daemon.peer()
                try await until { try await Self.status(peer)["state"]?.string == "ready" }
                let screen = try await OpenScreen(daemon, ["container": "books"])
                #expect(screen.ids("list") == ["1"])

                for books in ["1 2", "2 3", "3"] {
                    let ids = books.split(separator: " ").map(String.init)
                    let rows = ids.map { "\($0);Book\n" }.joined()
                    try Self.write(daemon, "ISBN;Name\n" + rows)
                    while screen.ids("list") != ids {
                        try await screen.next()
                        #expect(!screen.ids("list").isEmpty, "the list stays until the next one")
                    }
                }
                unlink(file)
                while screen.problem("list") == nil { try await screen.next() }
                try Self.write(daemon, "ISBN;Name\n4;Emma\n")
                while screen.ids("list") != ["4"] { try await screen.next() }
                try await until { try await Self.status(peer)["state"]?.string == "ready" }
            }
        }
    }
}
