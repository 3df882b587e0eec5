import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A plugin's program beside the items of its container, and while its settings change.
    ///
    /// It is `Tests/Fixtures/Programs/premieres`.
    @Suite(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "the plugin is in Python"))
    struct Programs {
        /// Tells a story with two films, of 1979 and 2028, which are voted on from their year on.
        private func withPremieres(
            in year: Int, _ story: (DaemonUnderTest) async throws -> Void
        ) async throws {
            let options = DaemonUnderTest.Options(
                arguments: ["--plugin-path", Checkout.root + "/Tests/Fixtures/Programs"])
            try await withDaemon(options) { daemon in
                let applied = try await Self.apply("year: \(year)", daemon)
                #expect(applied.status == 0, "\(applied)")
                let put = try await daemon.type(
                    "atriumctl put films/old title=Old year=1979 && "
                        + "atriumctl put films/new title=New year=2028")
                #expect(put.status == 0, "\(put)")
                try await story(daemon)
            }
        }

        private static func apply(
            _ settings: String, _ daemon: DaemonUnderTest
        ) async throws -> Finished {
            try daemon.home.write(
                "films.yaml",
                """
                atrium: 1
                container: films
                fields:
                  title: { type: text, required: true }
                  year:  { type: integer }
                components:
                  - { name: list, plugin: org.atrium.catalog }
                  - { name: votes, plugin: org.test.premieres, settings: { \(settings) } }
                """)
            return try await daemon.type("atriumctl apply -f films.yaml")
        }

        /// What is said against a vote; `none` if it is taken.
        private static func refusal(
            of vote: String, _ daemon: DaemonUnderTest
        ) async throws -> String {
            let answer = try await daemon.type("atriumctl vote \(vote)")
            return answer.status == 0 ? "none" : answer.errors
        }

        /// The processes of plugins' programs.
        private static func programs(of daemon: DaemonUnderTest) async throws -> [pid_t] {
            let pid = try #require(daemon.pid)
            let workers = "$(pgrep --parent \(pid) atrium-worker)"
            let found = try await run([
                "sh", "-c", "for worker in \(workers); do pgrep --parent $worker; done; true",
            ])
            return found.lines.compactMap { pid_t($0) }
        }

        /// The score of the film of 1979.
        private static func score(_ daemon: DaemonUnderTest) async throws -> Double? {
            let tally = try await daemon.type(
                #"atriumctl call Votes.Tally '{"container": "films", "item": "old"}'"#)
            return try tally.json["tally"]?["score"]?.double
        }

        @Test func `a program decides by items as they are committed`() async throws {
            try await withPremieres(in: 2026) { daemon in
                #expect(try await Self.refusal(of: "films/old 5", daemon) == "none")
                // No item, and an item without the field.
                #expect(try await Self.refusal(of: "films 3", daemon) == "none")
                let put = try await daemon.type("atriumctl put films/undated title=Undated")
                #expect(put.status == 0, "\(put)")
                #expect(try await Self.refusal(of: "films/undated 3", daemon) == "none")
                let early = try await Self.refusal(of: "films/new 5", daemon)
                #expect(early.contains("It comes out in 2028, and this is 2026."), "\(early)")
                let moved = try await daemon.type("atriumctl put films/new title=New year=2026")
                #expect(moved.status == 0, "\(moved)")
                #expect(try await Self.refusal(of: "films/new 5", daemon) == "none")
            }
        }

        @Test func `a program goes on with live settings, and is started anew with others`()
            async throws
        {
            try await withPremieres(in: 2026) { daemon in
                #expect(try await Self.refusal(of: "films/old 5", daemon) == "none")
                let programs = try await Self.programs(of: daemon)
                #expect(programs.count == 1)
                let wrong = try await Self.apply("year: soon", daemon)
                #expect(wrong.errors.contains("expected a whole number"), "\(wrong)")
                let changed = try await Self.apply("year: 2027", daemon)
                #expect(changed.status == 0, "\(changed)")
                let early = try await Self.refusal(of: "films/new 5", daemon)
                #expect(early.contains("It comes out in 2028, and this is 2027."), "\(early)")
                #expect(try await Self.programs(of: daemon) == programs)

                let anew = try await Self.apply("year: 2028, stars: 9", daemon)
                #expect(anew.status == 0, "\(anew)")
                #expect(try await Self.refusal(of: "films/new 9", daemon) == "none")
                try await until { try await Self.programs(of: daemon).count == 1 }
                #expect(try await Self.programs(of: daemon) != programs)
                #expect(try await Self.score(daemon) == 5)
            }
        }

        @Test func `a program that fails at live settings is started with them`() async throws {
            try await withPremieres(in: 2026) { daemon in
                #expect(try await Self.refusal(of: "films/old 5", daemon) == "none")
                let programs = try await Self.programs(of: daemon)
                let changed = try await Self.apply("year: 2027, breaks: true", daemon)
                #expect(changed.status == 0, "\(changed)")
                try await until {
                    try await Self.refusal(of: "films/new 5", daemon).contains("this is 2027.")
                }
                #expect(try await Self.programs(of: daemon) != programs)
                #expect(try await Self.score(daemon) == 5)
            }
        }
    }
}
