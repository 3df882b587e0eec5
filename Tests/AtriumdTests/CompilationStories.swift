import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// The compilation of the examples: a folder of tracks with filters, votes and comments.
    @Suite struct Compilation {
        private static let children = ["filters", "tracks", "votes", "comments"]
        private static let hill = "01 Up the Hill.wav"

        /// Runs a story with the compilation, its tracks in the daemon's home.
        private func withCompilation(
            _ story: (DaemonUnderTest) async throws -> Void
        ) async throws {
            try await withDaemon { daemon in
                let made = try await daemon.type(
                    "$EXAMPLES/compilation/make-tracks tracks && "
                        + "sed s,/srv/compilation,$PWD/tracks, "
                        + "$EXAMPLES/compilation/compilation.yaml | atriumctl apply -f -")
                #expect(made.status == 0, "\(made)")
                try await story(daemon)
            }
        }

        private func listed(_ daemon: DaemonUnderTest) async throws -> [String] {
            try await daemon.type("atriumctl list compilation --json").json.ids
        }

        @Test func `a track that is added, retagged, renamed or removed shows on open screens`()
            async throws
        {
            try await withCompilation { daemon in
                let screen = try await OpenScreen(daemon, ["container": "compilation"])
                while screen.ids("tracks").count < 9 { try await screen.next() }
                #expect(screen.ids("tracks").first == Self.hill, "in the order of the tracks")
                let voted = try await daemon.type("atriumctl vote 'compilation/\(Self.hill)' 5")
                #expect(voted.status == 0, "\(voted)")

                let moves = [
                    "cp tracks/'\(Self.hill)' tracks/new.tmp && mv tracks/new.tmp tracks/more.wav",
                    "mkdir tracks/b && cp tracks/more.wav tracks/b/deep.wav && rm tracks/more.wav",
                    // Of the same length: the tag's other bytes stay where they are.
                    "sed 's/Up the Hill/By the Lake/' tracks/'\(Self.hill)' >tracks/new.tmp && "
                        + "mv tracks/new.tmp tracks/'\(Self.hill)'",
                ]
                for move in moves {
                    let done = try await daemon.type(move)
                    #expect(done.status == 0, "\(done)")
                }
                func title() -> String? {
                    screen.list("tracks").first { $0["id"]?.string == Self.hill }?["fields"]?[
                        "title"]?.string
                }
                while !screen.ids("tracks").contains("b/deep.wav")
                    || screen.ids("tracks").contains("more.wav") || title() != "By the Lake"
                {
                    try await screen.next()
                }
                let kept = screen.list("tracks").first { $0["id"]?.string == Self.hill }
                #expect(kept?["votes"]?["count"]?.int == 1, "a retagged track keeps its votes")

                _ = try await daemon.type("mv tracks tracks.away")
                while screen.problem("tracks") == nil { try await screen.next() }
                #expect(screen.problem("tracks")?.contains("shown until it is back") == true)
                #expect(screen.ids("tracks").count == 10)

                // Not the folder that the worker may read.
                _ = try await daemon.type("mkdir tracks && cp tracks.away/'\(Self.hill)' tracks")
                while screen.ids("tracks") != [Self.hill] || screen.problem("tracks") != nil {
                    try await screen.next()
                }
            }
        }

        @Test(arguments: children)
        func `without any one of its children the other three work`(gone: String) async throws {
            try await withCompilation { daemon in
                try await until { try await listed(daemon).count == 9 }
                let detached = try await daemon.type("atriumctl detach compilation \(gone)")
                #expect(detached.status == 0, "\(detached)")
                let peer = try daemon.peer()
                let screen = try await OpenScreen(daemon, ["container": "compilation"])

                if gone != "tracks" {
                    #expect(screen.ids("tracks").count == 9)
                    #expect(try await listed(daemon).count == 9)
                }
                if gone != "filters" {
                    let selected = try await peer.call(
                        "org.atrium.Screens.Select",
                        ["screen": .string(screen.id), "section": "genre", "filter": "folk"])
                    #expect(selected["error"] == nil, "\(selected)")
                    // What its delegate says may come first.
                    while gone != "tracks", screen.ids("tracks").count != 3 {
                        try await screen.next()
                    }
                }
                let item = gone == "tracks" ? "compilation" : "'compilation/\(Self.hill)'"
                let vote = try await daemon.type("atriumctl vote \(item) 4")
                #expect((vote.status == 0) == (gone != "votes"), "\(vote)")
                let comment = try await daemon.type(
                    "atriumctl comment \(item) 'Well.' --id well && "
                        + "atriumctl reply compilation well 'Well, well.'")
                #expect((comment.status == 0) == (gone != "comments"), "\(comment)")
                let status = try await peer.call(
                    "org.atrium.Containers.Describe", ["container": "compilation"])
                let container = status["parameters"]?["container"]
                #expect(container?["state"]?.string == "ready", "\(status)")
            }
        }

        @Test
        func `its delegate says which filter was chosen, and a track has details and a cover`()
            async throws
        {
            try await withCompilation { daemon in
                try await until { try await listed(daemon).count == 9 }
                let peer = try daemon.peer()
                try await peer.send(
                    Peer.frame(
                        "org.atrium.Screens.Open", ["container": "compilation"], more: true))
                let opened = try #require(try await peer.receive()?["parameters"])
                let screen = try #require(opened["screen"]?.string)
                let chosen = try await daemon.type(
                    "atriumctl screen select \(screen) genre=dance")
                #expect(chosen.status == 0, "\(chosen)")
                let next = try await peer.receive()?["parameters"]
                #expect(next?["message"]?.string == "You chose Dance.")
                let focused = try await daemon.type(
                    "atriumctl screen focus \(screen) '\(Self.hill)'")
                #expect(focused.status == 0, "\(focused)")
                var details: JSONValue?
                // Its fields come at once, and what its source knows when that has read it.
                while details?["path"] == nil {
                    let revision = try #require(try await peer.receive()?["parameters"])
                    if let changed = revision["details"] { details = changed }
                }
                #expect(details?["album"]?.string == "Nine Tones", "what its field says")
                #expect(details?["path"]?.string?.hasSuffix(Self.hill) == true, "and its source")
                let image = try await daemon.peer().call(
                    "org.atrium.Contents.Image",
                    [
                        "container": "compilation", "item": .string(Self.hill), "field": "cover",
                    ])
                #expect(image["parameters"]?["type"]?.string == "image/png", "\(image)")
            }
        }
    }
}
