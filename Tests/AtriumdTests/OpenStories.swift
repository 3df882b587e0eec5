import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// `atriumctl open`, and `atriumctl screen` that works what is open.
    @Suite struct Open {
        @Test func `a screen in a pipe prints each change in a line`() async throws {
            try await withFilms { daemon in
                try await daemon.follow("timeout 60 atriumctl open films --filter genre=western") {
                    lines in
                    let id = try await Self.screen(&lines)
                    try await Self.skip(to: "2 of 2", &lines)
                    let voted = try await daemon.type(
                        "atriumctl vote films/once-upon-a-time-in-the-west-1968 5")
                    #expect(voted.status == 0, "\(voted)")
                    try await Self.skip(to: "votes 5 (1)", &lines)
                    let sorted = try await daemon.type("atriumctl screen sort \(id) -rating")
                    #expect(sorted.output.hasPrefix("revision "), "\(sorted)")
                    try await Self.skip(to: "moved from place", &lines)
                    for (line, told) in [
                        ("select \(id) genre=horror", "list: alien-1979 came to place"),
                        ("search \(id) ALIEN", "list: 1 in all"),
                        ("clear \(id)", "list: aliens-1986 came to place"),
                        ("resize \(id) 1", "list: aliens-1986 left"),
                    ] {
                        let done = try await daemon.type("atriumctl screen \(line)")
                        #expect(done.status == 0, "\(line): \(done)")
                        try await Self.skip(to: told, &lines)
                    }
                }
            }
        }

        @Test func `with --json each revision is a line, and leads on from the one before`()
            async throws
        {
            try await withFilms { daemon in
                try await daemon.follow("timeout 60 atriumctl open films --json --limit 3") {
                    lines in
                    let first = try JSON.decode(JSONValue.self, from: try await lines.next())
                    #expect(first["base"]?.int == nil)
                    _ = try await daemon.type("atriumctl vote films/12-angry-men-1957 5")
                    let second = try JSON.decode(JSONValue.self, from: try await lines.next())
                    #expect(second["base"]?.int == first["revision"]?.int)
                    #expect(second["screen"] == first["screen"])
                }
            }
        }

        @Test func `a screen goes on after the daemon was killed, with what was selected`()
            async throws
        {
            try await withFilms { daemon in
                try await daemon.follow("timeout 60 atriumctl open films 2>&1") { lines in
                    let id = try await Self.screen(&lines)
                    _ = try await daemon.type("atriumctl screen select \(id) genre=western")
                    try await Self.skip(to: "genre=western: 2, selected", &lines)
                    try await daemon.kill()
                    try await Self.skip(to: "lost the connection; trying again", &lines)
                    try await daemon.start()
                    try await Self.skip(to: "started anew: ", &lines)
                    try await Self.skip(to: "[western 2]", &lines)
                    try await Self.skip(to: "2 of 2", &lines)
                }
            }
        }

        @Test func `a screen's focus shows the talk on an item`() async throws {
            try await withFilms { daemon in
                try await daemon.follow("timeout 60 atriumctl open films --limit 2") { lines in
                    let id = try await Self.screen(&lines)
                    let focused = try await daemon.type("atriumctl screen focus \(id) alien-1979")
                    #expect(focused.status == 0, "\(focused)")
                    _ = try await daemon.type("atriumctl comment films/alien-1979 'In space.'")
                    try await Self.skip(to: "In space.", &lines)
                    let gone = try await daemon.type("atriumctl screen focus \(id) no-such-film")
                    #expect(gone.status == 1)
                    #expect(gone.errors.contains("no-such-film"), "\(gone)")
                }
                let none = try await daemon.type("atriumctl screen back nowhere")
                #expect(none.status == 1)
                #expect(none.errors.contains("there is no screen 'nowhere'"), "\(none)")
            }
        }

        /// The id that the first line shows.
        private static func screen(_ lines: inout RunningCommand) async throws -> String {
            let head = try await lines.next()
            return try String(#require(head.firstMatch(of: #/screen ([^ ]+)/#)?.1))
        }

        /// Reads on to a line that holds a text.
        private static func skip(to text: String, _ lines: inout RunningCommand) async throws {
            var seen: [String] = []
            do {
                while seen.last?.contains(text) != true { try await seen.append(lines.next()) }
            } catch is NoMoreLines {
                throw Untold(description: "'\(text)' was not told, but:\n\(seen)")
            }
        }

        struct Untold: Error, CustomStringConvertible {
            let description: String
        }
    }
}
