import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Who holds up the event loop is found, and named.
    @Suite struct Turns {
        /// A list whose plugin burns the loop's processor time when it is told to.
        private static let club = """
            atrium: 1
            container: club
            title: Club
            fields:
              title: { type: text }
            components:
              - { name: list, plugin: org.atrium.breaker, isolation: daemon }
            """

        private static func withClub(
            mayHoldUp: Bool = true, _ story: (DaemonUnderTest) async throws -> Void
        ) async throws {
            let plugins = try TemporaryDirectory()
            let library = try Data(
                contentsOf: URL(filePath: Checkout.products + "/libBreaker.so"))
            try plugins.write("org.atrium.breaker/libBreaker.so", library)
            try plugins.write(
                "org.atrium.breaker/manifest.json",
                """
                {"id": "org.atrium.breaker", "version": "0.1.0", "kind": "contents",
                 "library": "libBreaker.so", "title": "Breaker", "description": "Breaks."}
                """)
            var options = DaemonUnderTest.Options()
            options.arguments = ["--plugin-path", plugins.path]
            options.mayHoldUp = mayHoldUp
            try await withDaemon(options) { daemon in
                let made = try await daemon.peer().call(
                    "org.atrium.Containers.Apply",
                    ["definitions": [["file": "club.yaml", "text": .string(club)]]])
                try #require(made["error"] == nil, "\(made)")
                try await story(daemon)
            }
        }

        private static func put(_ ids: String..., to daemon: DaemonUnderTest) async throws {
            let items = ids.map { ["id": .string($0), "fields": ["title": "x"]] as JSONValue }
            let reply = try await daemon.peer().call(
                "org.atrium.Contents.Put", ["container": "club", "items": .array(items)])
            #expect(reply["error"] == nil, "\(reply)")
        }

        /// The turn in which the plugin burnt processor time; a busy machine makes others long.
        private static func burnt(_ daemon: DaemonUnderTest) -> HeldUp? {
            HeldUp.turns(in: daemon.log).first { $0.processorTime >= 300 }
        }

        @Test func `a call that holds up the loop is logged with its method, caller and plugin`()
            async throws
        {
            try await Self.withClub { daemon in
                try await Self.put("burn", to: daemon)
                let metrics = try await daemon.type("atriumctl metrics").output
                let turn = try #require(Self.burnt(daemon), "\(daemon.log)")
                for field in [
                    "method=org.atrium.Contents.Put", "peer-uid=\(getuid())",
                    "peer-pid=\(getpid())",
                    "container=club", "component=list", "plugin=org.atrium.breaker",
                ] {
                    #expect(turn.line.contains(field), "\(turn.line)")
                }
                let slow = #"atrium_loop_turn_seconds_bucket{le="0.25"} "#
                let all = "atrium_loop_turn_seconds_count "
                func count(_ prefix: String) -> Int? {
                    metrics.split(separator: "\n").first { $0.hasPrefix(prefix) }
                        .flatMap { Int($0.dropFirst(prefix.count)) }
                }
                let (below, total) = (try #require(count(slow)), try #require(count(all)))
                #expect(total > below, "\(metrics)")
            }
        }

        @Test func `what a plugin does outside of calls is logged with its component`()
            async throws
        {
            try await Self.withClub { daemon in
                try await Self.put("burn-later", to: daemon)
                try await until { Self.burnt(daemon) != nil }
                let line = try #require(Self.burnt(daemon)?.line)
                #expect(line.contains("plugin=org.atrium.breaker"), "\(line)")
                #expect(!line.contains("method="), "\(line)")
            }
        }

        @Test func `a test fails whose daemon had a turn over the bound`() async throws {
            try await withKnownIssue {
                try await Self.withClub(mayHoldUp: false) { daemon in
                    try await Self.put("burn", "burn-2", "burn-3", "burn-4", to: daemon)
                }
            } matching: {
                $0.comments.contains { "\($0)".contains("A turn of the event loop took too long") }
            }
        }
    }
}
