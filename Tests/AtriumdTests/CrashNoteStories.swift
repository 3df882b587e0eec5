import Foundation
import Glibc
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A plugin that crashes the daemon from within is kept out of it from then on.
    @Suite struct CrashingPlugins {
        private static func options(
            _ folder: TemporaryDirectory, settings: String = "{}", more: String = "",
            hasRuntimeHandler: Bool = false
        ) -> DaemonUnderTest.Options {
            DaemonUnderTest.Options(
                arguments: ["--plugin-path", folder.path],
                // As in its units; a test runs with it.
                prefix: hasRuntimeHandler ? [] : ["env", "SWIFT_BACKTRACE=enable=no"],
                configuration: [
                    "atrium.yaml": "delegates: [org.atrium.gate]\n",
                    "containers.d/broken.yaml": """
                    atrium: 1
                    container: broken
                    \(more)
                    fields: { title: { type: text } }
                    components:
                      - { name: list, plugin: org.atrium.breaker, isolation: daemon, settings: \(settings) }
                    """,
                ])
        }

        private static func breaker(_ kind: String = "contents") throws -> TemporaryDirectory {
            let folder = try TemporaryDirectory()
            try folder.addBreaker("breaker")
            try folder.addBreaker("gate", kind: "delegate")
            return folder
        }

        private static let sentence =
            "The daemon crashed while it called the component broken/list, which it knows since "

        private static func plugin(
            _ id: String, of daemon: DaemonUnderTest
        ) async throws -> JSONValue {
            let reply = try await daemon.peer().call(
                "org.atrium.Plugins.Describe", ["plugin": .string(id)])
            return try #require(reply["parameters"]?["plugin"], "\(reply)")
        }

        @Test func `one that traps when it is made keeps no daemon from starting`() async throws {
            let folder = try Self.breaker()
            let options = Self.options(folder, settings: "{ trapsAtStart: true }")
            let daemon = try await DaemonUnderTest(options)
            try await daemon.begin()
            #expect(try await daemon.ended() >= 128)
            #expect(daemon.log.contains("ended by SIG"), "where it was is told")
            #expect(daemon.log.contains("libBreaker.so"))
            try await daemon.start()
            #expect(daemon.log.contains(Self.sentence))
            let status = try await daemon.type("atriumctl status --json")
            let problems = try status.json["problems"]?.array?.compactMap(\.string) ?? []
            #expect(problems.contains { $0.hasPrefix(Self.sentence) }, "\(problems)")
            let made = try await daemon.type("atriumctl apply -f $EXAMPLES/films.yaml")
            #expect(made.status == 0, "\(made)")
            #expect(try await daemon.stop() == 0)
        }

        @Test func `one that traps in a call lives in a worker from then on, until it is released`()
            async throws
        {
            let folder = try Self.breaker()
            try await withDaemon(Self.options(folder)) { daemon in
                #expect(try await daemon.type("atriumctl put broken/one title=1").status == 0)
                #expect(try await daemon.type("atriumctl put broken/trap title=1").status != 0)
                #expect(try await daemon.ended() >= 128)

                try await daemon.start()
                let again = try await daemon.type("atriumctl put broken/trap title=1")
                #expect(again.status != 0)
                #expect(again.errors.contains("ended the component's worker"), "\(again)")
                #expect(try await daemon.type("atriumctl put broken/two title=2").status == 0)
                let plugin = try await Self.plugin("org.atrium.breaker", of: daemon)
                #expect(plugin["isolated"]?.string?.hasPrefix(Self.sentence) == true, "\(plugin)")
                for command in ["plugins", "plugin describe org.atrium.breaker", "status"] {
                    let shown = try await daemon.type("atriumctl \(command)")
                    let words = shown.output.split(whereSeparator: \.isWhitespace)
                        .joined(separator: " ")
                    #expect(words.contains(Self.sentence), "\(command): \(shown)")
                }
                // A kill in between is nobody's fault, and a stop does not forget it.
                try await daemon.kill()
                try await daemon.start()
                try await daemon.stop()
                try await daemon.start()
                let described = try await daemon.type("atriumctl describe broken --json")
                let isolation = try described.json["container"]?["components"]?[0]?["isolation"]?
                    .string
                #expect(isolation == "process", "\(described)")

                let released = try await daemon.type("atriumctl plugin release org.atrium.breaker")
                #expect(released.status == 0 && released.output.contains("released"), "\(released)")
                try await daemon.stop()
                try await daemon.start()
                let free = try await Self.plugin("org.atrium.breaker", of: daemon)
                #expect(free["isolated"] == nil, "\(free)")
                let back = try await daemon.type("atriumctl describe broken --json")
                #expect(
                    try back.json["container"]?["components"]?[0]?["isolation"]?.string == "daemon")
            }
        }

        @Test func `one that traps is known also where the Swift runtime reports crashes`()
            async throws
        {
            let folder = try Self.breaker()
            try await withDaemon(Self.options(folder, hasRuntimeHandler: true)) { daemon in
                #expect(try await daemon.type("atriumctl put broken/trap title=1").status != 0)
                #expect(try await daemon.ended() >= 128)
                try await daemon.start()
                #expect(daemon.log.contains(Self.sentence))
            }
        }

        @Test func `a new version of one that crashed is let in again`() async throws {
            let folder = try Self.breaker()
            try await withDaemon(Self.options(folder)) { daemon in
                #expect(try await daemon.type("atriumctl put broken/trap title=1").status != 0)
                #expect(try await daemon.ended() >= 128)
                let library = folder.path + "/breaker/libBreaker.so"
                let renewed = try await run(
                    [
                        "sh", "-c",
                        "cp '\(library)' '\(library).new' && mv '\(library).new' '\(library)'",
                    ])
                #expect(renewed.status == 0)
                try await daemon.start()
                #expect(daemon.log.contains(Self.sentence), "the crash is told all the same")
                try await daemon.stop()
                _ = try await run(
                    [
                        "sh", "-c",
                        "cp '\(library)' '\(library).new' && mv '\(library).new' '\(library)'",
                    ])
                try await daemon.start()
                let plugin = try await Self.plugin("org.atrium.breaker", of: daemon)
                #expect(plugin["isolated"] == nil, "\(plugin)")
            }
        }

        @Test func `a delegate that traps is left out, and its container serves without it`()
            async throws
        {
            let folder = try Self.breaker()
            let options = Self.options(folder, more: "delegate: org.atrium.gate")
            try await withDaemon(options) { daemon in
                let open: JSONValue = ["container": "broken", "limit": 1, "search": "crash"]
                let peer = try daemon.peer()
                try await peer.send(Peer.frame("org.atrium.Screens.Open", open, more: true))
                #expect(try await daemon.ended() >= 128)
                try await daemon.start()
                let status = try await daemon.type("atriumctl status --json")
                let problems = try status.json["problems"]?.array?.compactMap(\.string) ?? []
                let sentence = "The daemon crashed while it called container.delegate of broken"
                #expect(problems.contains { $0.hasPrefix(sentence) }, "\(problems)")
                #expect(try await daemon.type("atriumctl list broken").status == 0)
                let plugin = try await Self.plugin("org.atrium.gate", of: daemon)
                #expect(plugin["isolated"]?.string?.contains("are left out") == true, "\(plugin)")
            }
        }
    }
}
