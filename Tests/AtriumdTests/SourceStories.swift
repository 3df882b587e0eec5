import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A list that is a file: who looks at it sees what somebody writes.
    @Suite struct Sources {
        private let plugins: TemporaryDirectory

        init() throws {
            plugins = try TemporaryDirectory()
            try plugins.addBreaker("notebook", more: #", "paths": ["folder"]"#)
        }

        var options: DaemonUnderTest.Options {
            .init(arguments: ["--plugin-path", plugins.path])
        }

        /// Applies a container whose list is the file `notes.txt` in a folder that is there.
        static func apply(
            _ daemon: DaemonUnderTest, isolation: String, fields: String = ""
        ) async throws {
            try daemon.home.write("notes/other.txt", "nobody's")
            try daemon.home.write(
                "notes.yaml",
                """
                atrium: 1
                container: notes
                fields: { title: { type: text, required: true }\(fields) }
                components:
                  - name: list
                    plugin: org.atrium.notebook
                    isolation: \(isolation)
                    settings: { folder: \(daemon.home.path)/notes }
                """)
            let made = try await daemon.type("atriumctl apply -f \(daemon.home.path)/notes.yaml")
            #expect(made.status == 0, "\(made)")
        }

        /// Puts the file in place of the one of before, as editors do.
        static func write(_ daemon: DaemonUnderTest, _ text: String) throws {
            try daemon.home.write("notes/notes.new", text)
            let folder = daemon.home.path + "/notes"
            guard rename(folder + "/notes.new", folder + "/notes.txt") == 0 else {
                throw SystemFailure(folder)
            }
        }

        static func status(_ peer: Peer) async throws -> JSONValue {
            let reply = try await peer.call(
                "org.atrium.Containers.Describe", ["container": "notes"])
            return try #require(reply["parameters"]?["container"], "\(reply)")
        }

        @Test(arguments: ["daemon", "process"])
        func `screens follow a file, and keep the last good copy of one that is broken`(
            isolation: String
        ) async throws {
            try await withDaemon(options) { daemon in
                try await Self.apply(daemon, isolation: isolation)
                let peer = try daemon.peer()
                var status = try await Self.status(peer)
                try await until {
                    status = try await Self.status(peer)
                    return status["state"]?.string == "degraded"
                }
                #expect(status["reason"]?.string?.contains("notes.txt: No such file") == true)
                #expect(status["components"]?[0]?["state"]?.string == "loading")
                let early = try await daemon.type("atriumctl list notes")
                #expect(early.status != 0, "what nobody knows is not empty: \(early)")

                let bus = try daemon.peer()
                try await bus.send(
                    Peer.frame(
                        "org.atrium.Notifications.Subscribe", ["topics": ["notes.items.>"]],
                        more: true))
                _ = try await bus.receive()
                let screen = try await OpenScreen(daemon, ["container": "notes"])
                #expect(screen.problem("list")?.contains("notes.txt") == true)

                try Self.write(daemon, "a|Alien\nb|Brazil\n")
                while screen.ids("list") != ["a", "b"] || screen.problem("list") != nil {
                    try await screen.next()
                }
                let heard = try #require(try await bus.receive()?["parameters"]?["notifications"])
                #expect(heard[0]?["topic"]?.string == "notes.items.changed")
                #expect(heard[0]?["payload"]?["component"]?.string == "list")
                #expect(heard[0]?["payload"]?["items"]?.int == 2)
                #expect(try await Self.status(peer)["state"]?.string == "ready")

                try Self.write(daemon, "a|Alien\nnonsense\n")
                while screen.problem("list") == nil { try await screen.next() }
                #expect(screen.ids("list") == ["a", "b"])
                status = try await Self.status(peer)
                #expect(status["state"]?.string == "degraded")
                #expect(status["reason"]?.string?.contains("notes.txt:2: a line is") == true)
                let kept = try await daemon.type("atriumctl list notes --json")
                #expect(try kept.json.ids == ["a", "b"], "\(kept)")

                try Self.write(daemon, "c|Cube\na|Aliens\n")
                while screen.ids("list") != ["a", "c"] || screen.problem("list") != nil {
                    try await screen.next()
                }
                status = try await Self.status(peer)
                #expect(status["state"]?.string == "ready" && status["reason"] == nil, "\(status)")
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `a source looks again when asked to, and knows how many screens show it`(
            isolation: String
        ) async throws {
            try await withDaemon(options) { daemon in
                try await Self.apply(daemon, isolation: isolation)
                let bus = try daemon.peer()
                try await bus.send(
                    Peer.frame(
                        "org.atrium.Notifications.Subscribe", ["topics": ["notes.plugin.>"]],
                        more: true))
                _ = try await bus.receive()
                let heard = { (topic: String) async throws -> [JSONValue] in
                    let reply = try #require(try await bus.receive()?["parameters"])
                    let all = reply["notifications"]?.array ?? []
                    #expect(all.allSatisfy { $0["topic"]?.string == topic }, "\(all)")
                    return all
                }
                for _ in 0..<3 {
                    let told = try await daemon.type("atriumctl refresh notes list")
                    #expect(told.status == 0, "\(told)")
                    #expect(told.output == "notes: list was asked to look at its source again\n")
                }
                let first = try await heard("notes.plugin.list.reloads")
                #expect(first.count == 1)
                let second = try await heard("notes.plugin.list.reloads")
                #expect(second.count == 1, "the others were one, a second later")

                let screens = try await [
                    OpenScreen(daemon, ["container": "notes"]),
                    OpenScreen(daemon, ["container": "notes"]),
                ]
                var audience = 0
                while audience < 2 {
                    for said in try await heard("notes.plugin.list.audience") {
                        audience = said["payload"]?["screens"]?.int ?? 0
                    }
                }
                #expect(audience == screens.count)

                let wrong = try await daemon.type("atriumctl refresh notes none")
                #expect(wrong.status != 0 && wrong.errors.contains("none"), "\(wrong)")
            }
        }
    }
}
