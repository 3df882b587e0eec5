import AtriumKit
import AtriumKitTesting
import Foundation
import Host
import Index
import PluginLoader
import TestSupport
import Testing

@testable import Workers

/// An author's examples of what a plugin does.
@Suite(.timeLimit(.minutes(3))) struct ExampleTests {
    @Test(arguments: [
        ("catalog", Kind.contents), ("facets", .filters), ("stars", .votes), ("threads", .comments),
    ])
    func `the built-in plugins keep theirs, in a worker`(name: String, kind: Kind) async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../plugins/\(name.capitalized)/examples.json")
        let examples = try ConformanceExample.read(
            Value(jsonBytes: Array(try Data(contentsOf: file))))
        #expect(examples.count >= 5)
        let plugin = Installed.plugin(name, kind)
        try await Conformance.run(examples, kind) { Installed.component(of: plugin) }
    }

    @Test func `a source follows its file in a worker, too`() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../plugins/File/examples.json")
        let examples = try ConformanceExample.read(
            Value(jsonBytes: Array(try Data(contentsOf: file))))
        let plugin = Plugin(
            id: "org.atrium.file", version: "0.1.0", kind: .contents, title: "file",
            library: Checkout.products + "/libFile.so", isolation: .process, paths: ["path"])
        try await Conformance.run(examples, .contents) { Installed.component(of: plugin) }
    }

    /// Runs steps on the stars in a worker.
    ///
    /// - Returns: how they fail; nil: they don't.
    private func failure(of example: Value) async throws -> String? {
        let examples = try ConformanceExample.read(["examples": [example]])
        do {
            try await Conformance.run(examples, .votes) { Installed.component(of: Installed.stars) }
            return nil
        } catch let failure as ConformanceFailure {
            #expect(failure.rule == "stars")
            return failure.difference
        }
    }

    @Test func `what differs is named by its step and its place`() async throws {
        let cast: Value = ["cast": 4, "item": "film"]
        for (steps, expected) in [
            (
                [cast, ["tally": true, "item": "film", "is": ["score": 5]]],
                "examples[0].steps[1]: score is 4; expected was 5"
            ),
            (
                [["cast": 4, "item": "film", "is": ["events": []]]],
                "examples[0].steps[0]: events is "
                    + "[{item: \"film\", tally: {count: 1, histogram: {4: 1}, score: 4}}]; expected was []"
            ),
            (
                [["cast": 9, "is": ["current": 9]]],
                "examples[0].steps[0]: it is refused: A vote goes from 1 to 5, in whole steps; 9 does not."
            ),
            (
                [["cast": 9, "refused": "conflict"]],
                "examples[0].steps[0]: it is refused as refused; expected was conflict"
            ),
            (
                [["cast": 9, "refused": true, "because": "of the weather"]],
                "examples[0].steps[0]: it is refused with 'A vote goes from 1 to 5, in whole steps; 9 does not.'; "
                    + "expected was 'of the weather'"
            ),
            (
                [["cast": 4, "item": "film", "times": 3, "is": ["previous": nil]]],
                "examples[0].steps[0]: previous is 4; expected was null"
            ),
        ] as [([Value], String)] {
            let found = try await failure(of: ["title": "stars", "steps": .list(steps)])
            #expect(found == expected)
        }
        let taken = try await failure(of: [
            "title": "stars", "steps": [["cast": 4, "refused": true]],
        ])
        #expect(taken?.hasPrefix("examples[0].steps[0]: it is not refused, and gives {") == true)
    }

    @Test func `settings that have to be refused are`() async throws {
        #expect(
            try await failure(of: [
                "title": "stars", "settings": ["scale": 1], "refused": "scale",
                "because": "from 2 to 100",
            ]) == nil)
        #expect(
            try await failure(of: ["title": "stars", "settings": ["scale": 2], "refused": "scale"])
                == "the settings are taken; expected was that 'scale' is refused")
        let other = try await failure(
            of: ["title": "stars", "settings": ["step": 9], "refused": "scale", "because": "b"])
        #expect(other?.hasPrefix("the settings are refused with setting 'step'") == true)
        #expect(other?.hasSuffix("expected was that 'scale' is refused, because 'b'") == true)
    }

    private static let wrongSteps: [(Value, String)] = [
        (["cast": 5, "refused": false], ".refused: expected true, or the code of the refusal"),
        (["cast": 5, "because": "late"], ".because: expected 'refused' beside it"),
        (["cast": 5, "refused": true, "is": [:]], ": what is refused gives nothing"),
        (["cast": 5, "item": 7], ".item: expected an id of 1 to 200 bytes"),
        (["cast": 5, "item": ""], ".item: expected an id of 1 to 200 bytes"),
        (["cast": 5, "times": 0], ".times: expected 1 to 10000"),
        (["cast": 5, "actor": "ann"], ".actor: expected a whole number"),
        (["cast": 5, "actor": -1], ".actor: expected 0 to 2147483647"),
        (["cast": 5, "moderator": "yes"], ".moderator: expected true or false"),
        (
            ["cast": 5, "time": .int(.max)], ".time: expected 0 to 250000000000000"
        ),
        (["thread": true, "held": 1], ".held: expected true or false"),
        (["ballots": true, "limit": .int(.max)], ".limit: expected -1000000 to 1000000"),
        (["ballots": true, "after": "1"], ".after: expected a whole number"),
        (["keys": true, "after": 1], ".after: expected a text"),
        (["values": ["genres": "drama"]], ".values: expected an object of lists"),
        (["values": [:], "cut": [1]], ".cut: expected a list of texts"),
        (
            ["select": "a", "section": "b", "of": ["b": "a"]],
            ".of: expected an object of lists of texts"
        ),
        (["wait": 1e300], ".wait: expected seconds, from 0 to 60"),
        (["wait": -1], ".wait: expected seconds, from 0 to 60"),
    ]

    @Test func `a member of a step is used as it is, or refused`() {
        for (step, reason) in Self.wrongSteps {
            refuses(["examples": [["steps": [step]]]], "examples[0].steps[0]" + reason)
        }
    }

    @Test func `a call of another kind is refused, and those of the kind are named`() async throws {
        let step: Value = ["steps": [["post": "text", "refused": true]]]
        await #expect {
            try await failure(of: step)
        } throws: {
            "\($0)".hasPrefix(
                "examples[0].steps[0]: 'post' is a call of comments; those of votes are cast, retract"
            )
        }
    }

    @Test func `settings that a component in a worker does not take are named with their place`()
        async throws
    {
        let example: Value = ["settings": ["nope": 1], "steps": [["tally": true]]]
        await #expect {
            try await failure(of: example)
        } throws: {
            "\($0)".hasPrefix("examples[0].settings: setting 'nope': unknown")
        }
    }

    @Test func `the name of a file stays within the folder`() async throws {
        for name in ["../outside", "..", ".", "", "a/b", "a\0b"] {
            let examples = try ConformanceExample.read([
                "examples": [["steps": [["write": .text(name), "text": "t"]]]]
            ])
            await #expect {
                try await Conformance.run(examples, .contents) {
                    Installed.component(of: Installed.plugin("catalog", .contents))
                }
            } throws: {
                "\($0)" == "examples[0].steps[0]: expected the name of a file, without folders"
            }
        }
    }

    @Test func `a file that makes no sense is refused with the place`() {
        for (file, reason) in [
            ([], "expected an object with 'examples', a list"),
            (["examples": [5]], "examples[0]: expected an object"),
            (
                ["examples": [["steps": [["cast": 5, "thread": true]]]]],
                "examples[0].steps[0]: expected one of cast, "
            ),
            (
                ["examples": [["steps": [["is": 5]]]]],
                "examples[0].steps[0]: expected one of cast, "
            ),
            (["examples": [["step": []]]], "examples[0]: 'step' is unknown; known are because, "),
            (["examples": [["title": 5]]], "examples[0].title: expected a text"),
            (
                ["examples": [["steps": [["cast": "five"]]]]],
                "examples[0].steps[0].cast: expected a number"
            ),
            (
                ["examples": [["steps": [["put": [["fields": [:]]]]]]]],
                "examples[0].steps[0].put: expected a list of items, each with an id"
            ),
            (
                ["examples": [["steps": [["moderate": "a", "state": "hidden"]]]]],
                "examples[0].steps[0].state: expected one of shown, pending, removed"
            ),
            (
                ["examples": [["steps": [["thread": true, "order": "best"]]]]],
                "examples[0].steps[0].order: expected one of oldest, newest"
            ),
            (
                ["examples": [["steps": [["tally": "film"]]]]],
                "examples[0].steps[0].tally: expected true"
            ),
            (
                [
                    "examples": [
                        ["fields": [["name": "a", "type": "date", "of": "b", "by": "year"]]]
                    ]
                ],
                "examples[0].fields[0].by: expected one of day, week, month"
            ),
            (
                ["examples": [["fields": [["name": "a", "type": "date", "of": "b"]]]]],
                "examples[0].fields[0]: a date has both 'of' and 'by'"
            ),
            (
                ["examples": [["fields": [["name": "a", "type": "word"]]]]],
                "examples[0].fields[0]: expected 'name' and 'type'"
            ),
            (
                [
                    "examples": [
                        [
                            "fields": [
                                ["name": "a", "type": "text"], ["name": "a", "type": "number"],
                            ]
                        ]
                    ]
                ],
                "examples[0].fields[1]: 'a' is there twice"
            ),
            (["examples": [["title": "t"]]], "examples[0]: expected either 'steps' or 'refused'"),
            (
                ["examples": [["steps": [], "refused": "scale"]]],
                "examples[0]: expected either 'steps' or 'refused'"
            ),
            (
                ["examples": [["steps": [], "because": "it is"]]],
                "examples[0].because: expected 'refused' beside it"
            ),
        ] as [(Value, String)] {
            refuses(file, reason)
        }
    }

    private func refuses(_ file: Value, _ reason: String) {
        do throws(ExampleProblem) {
            _ = try ConformanceExample.read(file)
            Issue.record("\(file) is read")
        } catch {
            #expect(error.description.hasPrefix(reason), "\(error)")
        }
    }

    @Test func `the check runs those that the manifest names, and fails with them`() async throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.copyItem(
            atPath: Checkout.products + "/libStars.so", toPath: directory.path + "/libStars.so")
        func check(_ examples: String?) async throws -> Finished {
            let manifest =
                #"{"id": "org.atrium.stars", "version": "0.1.0", "kind": "votes", "library": "libStars.so", "#
                + #""title": "Stars", "conformance": {"examples": "e.json"}}"#
            try manifest.write(
                toFile: directory.path + "/manifest.json", atomically: true, encoding: .utf8)
            try examples?.write(
                toFile: directory.path + "/e.json", atomically: true, encoding: .utf8)
            return try await run([Installed.worker, "--check", directory.path])
        }
        let missing = try await check(nil)
        #expect(missing.status == 1)
        #expect(missing.output.contains("e.json"), "\(missing)")
        let kept = try await check(
            #"{"examples": [{"title": "t", "steps": [{"cast": 5, "is": {"current": 5}}]}]}"#)
        #expect(kept.status == 0, "\(kept)")
        #expect(kept.output.contains("✓ 1 example of what it does"), "\(kept)")
        let broken = try await check(
            #"{"examples": [{"title": "t", "steps": [{"cast": 5, "is": {"current": 4}}]}]}"#)
        #expect(broken.status == 1)
        #expect(
            broken.output.contains(
                #"broken is "t": examples[0].steps[0]: current is 5; expected was 4"#), "\(broken)")
        let wrong = try await check(#"{"examples": 5}"#)
        #expect(wrong.status == 1)
        #expect(
            wrong.output.contains("e.json: expected an object with 'examples', a list"), "\(wrong)")
    }
}
