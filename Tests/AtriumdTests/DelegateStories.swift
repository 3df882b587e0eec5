import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A delegate from a plugin that an administrator installed, as people who type and front ends have it.
    @Suite struct Delegates {
        private let plugins: TemporaryDirectory

        init() throws {
            plugins = try TemporaryDirectory()
            try plugins.addBreaker("gate", kind: "delegate")
        }

        private func options(named: Bool = true) -> DaemonUnderTest.Options {
            var options = DaemonUnderTest.Options()
            options.configuration = [
                "atrium.yaml": "pluginPath: [\(plugins.path)]\n"
                    + (named ? "delegates: [org.atrium.gate]\n" : "")
            ]
            return options
        }

        /// Applies the film club with a delegate.
        private static func apply(_ delegate: String) -> String {
            "(cat $EXAMPLES/films.yaml; echo 'delegate: \(delegate)') >f.yaml && "
                + "atriumctl apply -f f.yaml"
        }

        @Test func `it vetoes a vote, says something on a screen, and leads to another container`()
            async throws
        {
            try await withFilms(options()) { daemon in
                let made = try await daemon.type(
                    Self.apply("{ plugin: org.atrium.gate, settings: { least: 3 } }"))
                #expect(made.status == 0, "\(made)")
                #expect(made.output.contains("delegate: org.atrium.gate"), "\(made)")
                let low = try await daemon.type("atriumctl vote films/heat-1995 2")
                #expect(low.status == 1, "\(low)")
                #expect(low.errors.contains("A vote is 3.0 or more here."), "\(low)")
                let high = try await daemon.type("atriumctl vote films/heat-1995 4")
                #expect(high.status == 0, "\(high)")
                let described = try await daemon.type("atriumctl describe films")
                #expect(described.output.contains("org.atrium.gate"), "\(described)")
                let listed = try await daemon.type("atriumctl plugins")
                #expect(listed.output.contains("delegate"), "\(listed)")
                let settings = try await daemon.type("atriumctl plugin describe org.atrium.gate")
                #expect(settings.output.contains("least"), "\(settings)")

                let peer = try daemon.peer()
                try await peer.send(
                    Peer.frame(
                        "org.atrium.Screens.Open", ["container": "films", "search": "help"],
                        more: true))
                let opened = try #require(try await peer.receive()?["parameters"])
                #expect(opened["message"]?.string == "Search for a title.\u{1B}[31m")
                let screen = try #require(opened["screen"]?.string)
                let shown = opened["lists"]?.array?.first?["total"]?.int ?? 0
                #expect(shown > 10, "its search is not the user's")
                let other = try await daemon.type("atriumctl screen search \(screen) music")
                #expect(other.status == 0, "\(other)")
                let led = try #require(try await peer.receive()?["parameters"])
                #expect(led["lead"]?["container"]?.string == "jukebox")
                #expect(led["message"] == nil)
                let hidden = try await daemon.type("atriumctl screen hide \(screen) stars")
                #expect(hidden.status == 0, "\(hidden)")
                let left = try #require(try await peer.receive()?["parameters"])
                let names = (left["components"]?.array ?? []).filter { $0["hidden"]?.bool == true }
                #expect(names.map { $0["name"]?.string } == ["stars"])
                let text = try await daemon.type(
                    "timeout 5 atriumctl open films --search help | grep message | cat -v")
                #expect(text.output.contains("message: Search for a title."), "\(text)")
                #expect(!text.output.contains("^["), "no escape sequence: \(text)")
            }
        }

        @Test func `another one takes its place by apply, under an open screen`() async throws {
            try await withFilms(options()) { daemon in
                let gate = "{ plugin: org.atrium.gate, settings: { least: %d } }"
                let screen = try await OpenScreen(daemon, ["container": "films", "search": "heat"])
                let all = screen.ids("list")
                #expect(!all.isEmpty)
                func low(_ status: Int) async throws {
                    let vote = try await daemon.type("atriumctl vote films/heat-1995 2")
                    #expect(vote.status == status, "\(vote)")
                }
                try await low(0)
                for (least, status) in [(3, 1), (2, 0)] {
                    let made = try await daemon.type(
                        Self.apply(gate.replacing("%d", with: "\(least)")))
                    #expect(made.status == 0, "\(made)")
                    // The one that is there now decides what is voted, and what the same screen shows.
                    try await low(status)
                    let asked = try await daemon.type("atriumctl screen search \(screen.id) help")
                    #expect(asked.status == 0, "\(asked)")
                    while screen.message == nil { try await screen.next() }
                    #expect(screen.total("list") > all.count, "its search is not the user's")
                    let back = try await daemon.type("atriumctl screen search \(screen.id) heat")
                    #expect(back.status == 0, "\(back)")
                    while screen.ids("list") != all { try await screen.next() }
                }
                let without = try await daemon.type("atriumctl apply -f $EXAMPLES/films.yaml")
                #expect(without.status == 0, "\(without)")
                let asked = try await daemon.type("atriumctl screen search \(screen.id) help")
                #expect(asked.status == 0, "\(asked)")
                while screen.ids("list") == all { try await screen.next() }
                #expect(screen.message == nil && screen.total("list") < 10, "what the user chose")
            }
        }

        @Test func `one that nobody named is refused, and a setting that it refuses is named`()
            async throws
        {
            try await withFilms(options(named: false)) { daemon in
                let listed = try await daemon.type("atriumctl plugin describe org.atrium.gate")
                #expect(
                    listed.output.contains("delegates: [org.atrium.gate]"),
                    "it says what to write: \(listed)")
                let refused = try await daemon.type(Self.apply("org.atrium.gate"))
                #expect(refused.status != 0, "\(refused)")
                #expect(
                    refused.errors.contains(
                        "it was found, and refused: A delegate runs in the daemon"),
                    "\(refused)")
            }
            try await withFilms(options()) { daemon in
                let wrong = try await daemon.type(
                    Self.apply("{ plugin: org.atrium.gate, settings: { least: 1000 } }"))
                #expect(wrong.status != 0 && wrong.errors.contains("nobody could vote"), "\(wrong)")
                #expect(wrong.errors.contains("setting 'least'"), "\(wrong)")
            }
        }

        @Test func `one that is gone is missed: lists are shown, votes and choices refused`()
            async throws
        {
            try await withFilms(options()) { daemon in
                let made = try await daemon.type(Self.apply("org.atrium.gate"))
                #expect(made.status == 0, "\(made)")
                try await daemon.stop()
                try FileManager.default.removeItem(atPath: plugins.path + "/gate")
                try await daemon.start()
                let listed = try await daemon.type("atriumctl list films --limit 1 --json")
                #expect(listed.status == 0, "\(listed)")
                for command in [
                    "vote films/heat-1995 4", "comment films/heat-1995 good", "open films",
                ] {
                    let refused = try await daemon.type("timeout 20 atriumctl \(command)")
                    #expect(refused.status != 0, "\(refused)")
                    #expect(refused.errors.contains("org.atrium.gate"), "\(refused)")
                }
                let status = try await daemon.type("atriumctl status")
                #expect(status.output.contains("delegate"), "\(status)")
                let freed = try await daemon.type(
                    "atriumctl apply -f $EXAMPLES/films.yaml && atriumctl vote films/heat-1995 4")
                #expect(freed.status == 0, "\(freed)")
            }
        }
    }
}
