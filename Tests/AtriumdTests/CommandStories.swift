import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What commands say of what is not done, or not all there.
    @Suite struct Commands {
        @Test func `a page of a list is as long with a cursor as without`() async throws {
            try await withFilms { daemon in
                let first = try await daemon.type("atriumctl list films --limit 5 --json").json
                let cursor = try #require(first["next"]?.string)
                let rest = try await daemon.type("atriumctl list films --cursor '\(cursor)'")
                #expect(rest.errors == "120 of 125\n", "\(rest)")
                let part = try await daemon.type(
                    "atriumctl list films --cursor '\(cursor)' --limit 3")
                #expect(part.errors == "3 of 125; a higher --limit shows more\n", "\(part)")
            }
        }

        @Test func `more than a page of votes and comments is read in pages`() async throws {
            try await withFilms { daemon in
                try daemon.home.write("many.jsonl", Self.records(1_005))
                let filled = try await daemon.type("atriumctl import films many.jsonl")
                #expect(filled.output.contains("3,015 restored"), "\(filled)")
                let thread = try await daemon.type("atriumctl thread films/aliens-1986")
                #expect(Set(thread.lines.filter { $0.contains(" no. ") }).count == 1_005)
                let ballots = try await daemon.type("atriumctl ballots films/aliens-1986")
                #expect(Set(ballots.lines.filter { $0.hasPrefix("web:") }).count == 1_005)
                let pending = try await daemon.type("atriumctl pending films")
                #expect(Set(pending.lines.filter { $0.contains(" no. ") }).count == 1_005)
                for command in ["thread films/aliens-1986", "ballots films/aliens-1986"] {
                    let some = try await daemon.type("atriumctl \(command) --limit 1002")
                    let found = some.lines.filter { $0.contains(" no. ") || $0.hasPrefix("web:") }
                    #expect(found.count == 1_002, "\(command)")
                }
            }
        }

        /// Lines of an export with so many ballots, comments and held comments.
        private static func records(_ count: Int) -> String {
            var lines = [
                #"{"atrium":1,"container":"films","all":true,"sequence":1,"version":"0.1.0"}"#
            ]
            for number in 1...count {
                let time = 1_700_000_000_000 + number
                lines.append(
                    #"{"component":"stars","kind":"votes","key":"aliens-1986","actor":"web:\#(number)","#
                        + #""value":{"cast":\#(time),"value":4}}"#)
                for (item, state) in [("aliens-1986", "shown"), ("heat-1995", "pending")] {
                    lines.append(
                        #"{"component":"talk","kind":"comments","key":"\#(state)-\#(number)","actor":"web:1","#
                            + #""value":{"created":\#(time),"fingerprint":"x","item":"\#(item)","#
                            + #""order":\#(number),"state":"\#(state)","text":"this is no. \#(number)"}}"#
                    )
                }
            }
            return lines.joined(separator: "\n") + "\n"
        }

        @Test func `a comment without replies is shown, and that there are none`() async throws {
            try await withFilms { daemon in
                let made = try await daemon.type(
                    "atriumctl comment films/alien-1979 'In space' --json")
                let comment = try #require(try made.json["comment"]?["id"]?.string, "\(made)")
                let thread = "atriumctl thread films/alien-1979 --root \(comment)"
                let alone = try await daemon.type(thread)
                #expect(alone.lines.contains { $0.hasSuffix(" In space") }, "\(alone)")
                #expect(alone.errors == "no replies to \(comment)\n", "\(alone)")
                let replied = try await daemon.type(
                    "atriumctl reply films \(comment) 'Nobody hears' && \(thread)")
                #expect(replied.output.contains(" Nobody hears"), "\(replied)")
                #expect(!replied.output.contains(" In space"), "\(replied)")
                #expect(replied.errors.isEmpty, "\(replied)")
                let shallow = try await daemon.type("\(thread) --depth 0")
                #expect(shallow.errors.isEmpty, "there are replies: \(shallow)")
            }
        }

        @Test func `what has no source is not said to look at it`() async throws {
            try await withFilms { daemon in
                for (words, outcome) in [
                    ("films", "films was asked to look at its sources again; its lists have none"),
                    (
                        "films list",
                        "films: list has no source: its items are put and imported"
                    ),
                    (
                        "films stars",
                        "films: stars was asked to look at its source again, if it has one"
                    ),
                ] {
                    let refreshed = try await daemon.type("atriumctl refresh \(words)")
                    #expect(refreshed.output == "\(outcome)\n", "\(refreshed)")
                    #expect(refreshed.status == 0)
                }
            }
        }

        @Test func `a source that was never read is named in an export`() async throws {
            try await withDaemon { daemon in
                try daemon.home.write(
                    "books.yaml",
                    """
                    atrium: 1
                    container: books
                    fields: { title: { type: text, required: true } }
                    components:
                      - { name: list, plugin: org.atrium.file, settings: { path: \(daemon.home.path)/none.csv } }
                    """)
                let exported = try await daemon.type(
                    "atriumctl apply -f books.yaml && atriumctl export books --all")
                #expect(exported.status == 0, "\(exported)")
                #expect(
                    exported.errors.hasPrefix(
                        "it is not known whether the items of 'list' are in the export: It has not"),
                    "\(exported)")
                let refreshed = try await daemon.type("atriumctl refresh books list")
                #expect(
                    refreshed.output == "books: list was asked to look at its source again\n",
                    "\(refreshed)")
            }
        }

        @Test func `a definition of init that is refused stays in its file`() async throws {
            var options = DaemonUnderTest.Options()
            options.configuration = ["atrium.yaml": "limits:\n  containers: 1\n"]
            try await withFilms(options) { daemon in
                try daemon.home.write("people.csv", "id,name\na,Ann\nb,Bob\n")
                let refused = try await daemon.type("atriumctl init people.csv --yes")
                #expect(refused.status == 1, "\(refused)")
                #expect(refused.errors.contains("limits.containers"), "\(refused)")
                #expect(
                    refused.errors.hasSuffix(
                        " people.yaml is written; its first lines say how to go on.\n"),
                    "\(refused)")
                let applied = try await daemon.type(
                    "atriumctl delete films && atriumctl apply -f people.yaml")
                #expect(applied.output.contains("people created"), "\(applied)")
            }
        }

        @Test func `an empty variable is as none, and one of a list is an empty list`()
            async throws
        {
            var options = DaemonUnderTest.Options()
            options.configuration = ["atrium.yaml": "admins: [root]\n"]
            try await withDaemon(options) { daemon in
                let check = "CONFIGURATION_DIRECTORY=$PWD/etc \(Self.empty) atriumd --check"
                let checked = try await daemon.type(check)
                #expect(checked.status == 0, "\(checked)")
                let unknown = try await daemon.type("ATRIUM_SOCKETS= atriumd --check")
                #expect(unknown.errors.contains("ATRIUM_SOCKETS: unknown"), "\(unknown)")
            }
        }

        private static let empty = [
            "SOCKET", "STATE_DIRECTORY", "LOG_LEVEL", "NOTIFICATIONS_KEPT", "WORKER_MEMORY_MAX",
            "LIMITS_SCREENS", "PLUGIN_PATH", "ADMINS", "NETWORK_PLUGINS",
        ].map { "ATRIUM_\($0)=" }.joined(separator: " ")
    }
}
