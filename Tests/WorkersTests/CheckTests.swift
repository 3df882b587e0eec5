import Foundation
import PluginLoader
import TestSupport
import Testing

/// What `atrium-worker --check` prints of plugins that crash, hang or leave.
@Suite(.timeLimit(.minutes(3))) struct `A check of a plugin that` {
    /// Checks the plugin that breaks, by an example that puts an item of this name.
    private func check(putting item: String, _ options: String...) async throws -> Finished {
        let folder = try TemporaryDirectory()
        let examples = try folder.write(
            "examples.json",
            #"{ "examples": [{ "steps": [{ "put": [{ "id": "\#(item)", "fields": { "title": "t" } }] }] }] }"#
        )
        return try await run(
            [
                Installed.worker, "--check", Installed.breaker.path, "--id", Installed.breaker.id,
                "--examples", examples, "--seed", "3",
            ] + options)
    }

    @Test func `crashes prints the call and the signal`() async throws {
        let checked = try await check(putting: "trap")
        #expect(checked.status != 0)
        let line = checked.errors.split(separator: "\n").first { $0.hasPrefix("failed: ") } ?? ""
        #expect(line.hasPrefix("failed: contents, examples, in this process, call "), "\(checked)")
        #expect(line.contains("trap") && line.hasSuffix(": it crashed here"), "\(checked)")
        #expect(checked.errors.contains("ended by SIG"), "\(checked)")
    }

    @Test func `crashes at its start prints the seed`() async throws {
        let checked = try await check(
            putting: "any", "--settings", #"{"trapsAtStart": true}"#)
        #expect(
            checked.errors.contains(
                "failed: contents, seed 3, in this process, call 1, start with {\"trapsAtStart\":true}"
            ),
            "\(checked)")
    }

    @Test func `hangs prints the call and the limit`() async throws {
        let checked = try await check(putting: "hang", "--call-seconds", "1")
        #expect(checked.status == 1)
        #expect(checked.output.contains("hang"), "\(checked)")
        #expect(checked.output.contains("it has not returned within 1.0 seconds"), "\(checked)")
    }

    @Test func `ends the process prints the call`() async throws {
        let checked = try await check(putting: "leave")
        #expect(checked.status == 1)
        #expect(checked.output.contains("it ended this process"), "\(checked)")
    }
}
