import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A list that asks its source what to show.
    @Suite struct Asked {
        private let plugins: TemporaryDirectory

        init() throws {
            plugins = try TemporaryDirectory()
            try plugins.addBreaker("asker")
        }

        private var options: DaemonUnderTest.Options {
            .init(arguments: ["--plugin-path", plugins.path])
        }

        private static func apply(_ daemon: DaemonUnderTest, isolation: String) async throws {
            try daemon.home.write(
                "notes.yaml",
                """
                atrium: 1
                container: notes
                fields: { title: { type: text, required: true } }
                components:
                  - { name: list, plugin: org.atrium.asker, isolation: \(isolation) }
                  - { name: stars, plugin: org.atrium.stars }
                """)
            let made = try await daemon.type("atriumctl apply -f \(daemon.home.path)/notes.yaml")
            #expect(made.status == 0, "\(made)")
        }

        private static func search(
            _ text: String, on screen: OpenScreen, _ peer: Peer
        ) async throws {
            let reply = try await peer.call(
                "org.atrium.Screens.Search", ["screen": .string(screen.id), "text": .string(text)])
            #expect(reply["parameters"]?["revision"]?.int != nil, "\(reply)")
        }

        private static func killWorkers(of daemon: DaemonUnderTest) async throws {
            let pid = try #require(daemon.pid)
            _ = try await run(
                ["pkill", "--signal", "KILL", "--parent", "\(pid)", "atrium-worker"])
        }

        @Test(arguments: ["daemon", "process"])
        func `screens show what a source answers, and votes on it`(isolation: String) async throws {
            try await withDaemon(options) { daemon in
                try await Self.apply(daemon, isolation: isolation)
                let peer = try daemon.peer()
                let screen = try await OpenScreen(daemon, ["container": "notes"])
                while screen.ids("list") != ["a", "b"] { try await screen.next() }
                #expect(screen.state("list") == nil)
                try await Self.search("cab", on: screen, peer)
                while screen.ids("list") != ["c", "a", "b"] { try await screen.next() }
                let vote = try await daemon.type("atriumctl vote notes/c 4")
                #expect(vote.status == 0, "\(vote)")
                while screen.list("list").first?["votes"]?["count"]?.int != 1 {
                    try await screen.next()
                }
                try await Self.search("refuse", on: screen, peer)
                while screen.state("list") != "stale" { try await screen.next() }
                #expect(screen.listProblem("list") == "The source is shut.")
                #expect(screen.ids("list") == [])
                let listed = try await daemon.type("atriumctl list notes --search xyz --json")
                #expect(try listed.json.ids == ["x", "y", "z"], "\(listed)")
                let refused = try await daemon.type("atriumctl list notes --search refuse")
                #expect(refused.status != 0 && refused.errors.contains("The source is shut."))
                try await Self.search("flood", on: screen, peer)
                while screen.listProblem("list")?.contains("allowed") != true {
                    try await screen.next()
                }
            }
        }

        @Test func `a worker that is killed while it is asked is made anew and asked again`()
            async throws
        {
            try await withDaemon(options) { daemon in
                try await Self.apply(daemon, isolation: "process")
                let peer = try daemon.peer()
                let screen = try await OpenScreen(daemon, ["container": "notes"])
                while screen.ids("list") != ["a", "b"] { try await screen.next() }
                let bus = try daemon.peer()
                try await bus.send(
                    Peer.frame(
                        "org.atrium.Notifications.Subscribe", ["topics": ["notes.plugin.>"]],
                        more: true))
                _ = try await bus.receive()
                try await Self.search("wait", on: screen, peer)
                while screen.state("list") != "asking" { try await screen.next() }
                _ = try await bus.receive()
                try await Self.killWorkers(of: daemon)
                let again = try #require(try await bus.receive()?["parameters"]?["notifications"])
                #expect(again[0]?["payload"]?["search"]?.string == "wait")
                _ = try await peer.call(
                    "org.atrium.Notifications.Publish", ["topic": "notes.app.go", "payload": [:]])
                while screen.ids("list") != ["late"] { try await screen.next() }
                #expect(screen.state("list") == nil)
            }
        }

        @Test func `a question that ends workers has failed, and others go on`() async throws {
            try await withDaemon(options) { daemon in
                try await Self.apply(daemon, isolation: "process")
                let peer = try daemon.peer()
                let screen = try await OpenScreen(daemon, ["container": "notes"])
                while screen.ids("list") != ["a", "b"] { try await screen.next() }
                try await Self.search("trap", on: screen, peer)
                while screen.state("list") != "stale" { try await screen.next() }
                #expect(
                    screen.listProblem("list") == "Its worker ended twice at this question.")
                try await Self.search("xy", on: screen, peer)
                while screen.ids("list") != ["x", "y"] { try await screen.next() }
            }
        }
    }
}
