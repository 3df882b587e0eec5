import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What front ends are told so that they need not guess.
    @Suite struct Presentation {
        @Test(arguments: ["daemon", "process"])
        func `a screen and a description tell what votes and comments are taken`(
            place: String
        ) async throws {
            try await withDaemon { daemon in
                let first = try await Self.apply(
                    daemon, place, "scale: 10, step: 0.5, subjects: [items]", "maxLength: 80")
                #expect(first.status == 0, "\(first)")
                _ = try await daemon.type("atriumctl put films/heat title=Heat")
                let screen = try await OpenScreen(daemon, ["container": "films"])
                let short: JSONValue = [
                    "maxLength": 80, "moderated": false, "subjects": ["items", "container"],
                ]
                #expect(screen.component("stars")?["votes"]?["step"]?.double == 0.5)
                #expect(screen.component("stars")?["votes"]?["min"]?.double == 1)
                #expect(screen.component("stars")?["votes"]?["max"]?.double == 10)
                #expect(screen.component("stars")?["votes"]?["subjects"] == ["items"])
                #expect(screen.component("stars")?["comments"] == nil)
                #expect(screen.component("talk")?["comments"] == short)
                #expect(screen.component("list")?["votes"] == nil)

                let vote = try await daemon.type("atriumctl vote films/heat 9.5")
                #expect(vote.status == 0, "\(vote)")
                while screen.list("list").first?["votes"]?["count"]?.int != 1 {
                    try await screen.next()
                }
                #expect(screen.timesComponents == 1, "told once, not with each diff")

                let described = try await daemon.type("atriumctl describe films --json")
                let components = try described.json["container"]?["components"]?.array ?? []
                for component in components {
                    let shown = screen.component(component["name"]?.string ?? "")
                    #expect(component["votes"] == shown?["votes"])
                    #expect(component["comments"] == shown?["comments"])
                }

                let other = try await Self.apply(daemon, place, "scale: 3", "moderated: true")
                #expect(other.status == 0, "\(other)")
                while screen.component("stars")?["votes"]?["max"]?.double != 3
                    || screen.component("talk")?["comments"]?["moderated"]?.bool != true
                {
                    try await screen.next()
                }
                let text = try await daemon.type("atriumctl describe films")
                #expect(text.output.contains("1 to 3 in steps of 1, on items and"), "\(text)")
                let wrong = try await daemon.type("atriumctl vote films/heat 9.5")
                #expect(wrong.status == 1)
                #expect(
                    wrong.errors.contains("hint: votes go here from 1 to 3 in steps of 1."),
                    "\(wrong)")
            }
        }

        /// Applies a container whose votes and comments have these settings, and live here.
        private static func apply(
            _ daemon: DaemonUnderTest, _ place: String, _ votes: String, _ comments: String
        ) async throws -> Finished {
            try await daemon.type(
                """
                echo 'atrium: 1
                container: films
                fields: { title: { type: text } }
                components:
                  - { name: list, plugin: org.atrium.catalog }
                  - { name: stars, plugin: org.atrium.stars, isolation: \(place), settings: { \(votes) } }
                  - { name: talk, plugin: org.atrium.threads, isolation: \(place), settings: { \(comments) } }' >f.yaml
                atriumctl apply -f f.yaml
                """)
        }
    }
}
