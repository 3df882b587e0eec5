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

    @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "the program is in Python"))
    func `can't be started prints the seed, too`() async throws {
        let folder = try TemporaryDirectory()
        let program = try folder.write("gone.py", "#!/usr/bin/python3\nraise SystemExit(5)\n")
        chmod(program, 0o755)
        try folder.write(
            "manifest.json",
            #"{"id": "org.test.gone", "version": "1.0.0", "kind": "votes", "program": "gone.py", "#
                + #""title": "Gone"}"#)
        let checked = try await run([
            Installed.worker, "--check", folder.path, "--seed", "7",
        ])
        #expect(checked.status == 1)
        #expect(
            checked.output.contains(
                "failed: votes, seed 7, in a worker, call 1, start with {}: The program \(program)"),
            "\(checked)")
    }

    @Test func `others may write to is refused, as by the daemon`() async throws {
        let folder = try TemporaryDirectory()
        let program = try folder.write("open.sh", "#!/bin/sh\n")
        try folder.write(
            "manifest.json",
            #"{"id": "org.test.open", "version": "1.0.0", "kind": "votes", "program": "open.sh", "#
                + #""title": "Open"}"#)
        for (path, mode) in [(program, 0o757), (folder.path + "/manifest.json", 0o646)] {
            chmod(program, 0o755)
            chmod(path, mode_t(mode))
            let checked = try await run([Installed.worker, "--check", folder.path])
            #expect(checked.status == 1)
            #expect(
                checked.output.contains(
                    "failed: \(path) may be written to by others, and the daemon refuses it: "
                        + "'chmod o-w \(path)'."),
                "\(checked)")
        }
    }

    @Test func `ends the process prints the call`() async throws {
        let checked = try await check(putting: "leave")
        #expect(checked.status == 1)
        #expect(checked.output.contains("it ended this process"), "\(checked)")
    }

    /// Checks the stars with a manifest that has this `conformance`.
    private func check(
        declaring conformance: String, in folder: TemporaryDirectory
    ) async throws -> Finished {
        try FileManager.default.copyItem(
            atPath: Checkout.products + "/libStars.so", toPath: folder.path + "/libStars.so")
        try folder.write(
            "manifest.json",
            """
            {"id": "org.atrium.stars", "version": "0.1.0", "kind": "votes", "library": "libStars.so",
             "title": "Stars", "conformance": \(conformance)}
            """)
        return try await run([Installed.worker, "--check", folder.path])
    }

    @Test(arguments: [
        ("5", "'conformance': expected an object"),
        (
            #"{"setting": {}}"#,
            "'conformance': expected settings, fields, examples, found 'setting'"
        ),
        (#"{"settings": []}"#, "'conformance.settings': expected an object"),
        (#"{"fields": [{"name": "a"}]}"#, "conformance.fields[0]: expected 'name' and 'type'"),
        (
            #"{"examples": 5}"#,
            "'conformance.examples': expected a path within the manifest's folder"
        ),
        (#"{"examples": "../e.json"}"#, "'conformance.examples': expected a path within"),
        (#"{"examples": "/dev/zero"}"#, "'conformance.examples': expected a path within"),
    ])
    func `is declared wrongly is not run`(conformance: String, reason: String) async throws {
        let folder = try TemporaryDirectory()
        let checked = try await check(declaring: conformance, in: folder)
        #expect(checked.status == 1)
        #expect(checked.output.contains("/manifest.json: " + reason), "\(checked)")
    }

    @Test(arguments: [
        (
            #"{"settings": {"nope": 1}, "steps": [{"tally": true}]}"#,
            "examples[1].settings: setting 'nope': unknown; known are: "
        ),
        (#"{"steps": [{"tally": true}, {"post": "a"}]}"#, "examples[1].steps[1]: 'post' is a call"),
    ])
    func `has examples of another plugin runs nothing`(
        example: String, reason: String
    ) async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(
            "e.json", #"{"examples": [{"steps": [{"tally": true}]}, \#(example)]}"#)
        let checked = try await check(declaring: #"{"examples": "e.json"}"#, in: folder)
        #expect(checked.status == 1)
        #expect(checked.output.contains("failed: \(file): \(reason)"), "\(checked)")
        #expect(!checked.output.contains("conforms"), "\(checked)")
    }

    @Test func `has examples in what is no file, or in too large a one, names it`() async throws {
        let folder = try TemporaryDirectory()
        func check(_ examples: String) async throws -> Finished {
            try await run([
                Installed.worker, "--check", Installed.breaker.path, "--id",
                Installed.breaker.id, "--examples", examples,
            ])
        }
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, folder.path, "/dev/zero"] {
            let checked = try await check(path)
            #expect(checked.status == 1)
            #expect(checked.output.contains("failed: \(path) is no regular file"), "\(checked)")
        }
        let large = try folder.write("large", "")
        #expect(truncate(large, 100 << 20) == 0)
        let checked = try await check(large)
        #expect(checked.status == 1)
        #expect(
            checked.output.contains("\(large) has 104857600 bytes; at most 16777216 are read"),
            "\(checked)")
    }

    @Test func `declares fields gets these, and its examples do`() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(
            "e.json",
            #"""
            {"examples": [{"settings": {"sections": [{"id": "made", "field": "made"}]}, "steps": [
                {"values": {"made": [1972]}},
                {"sections": true, "is": [{"id": "made", "filters": [{"id": "1972"}]}]}
            ]}]}
            """#)
        try FileManager.default.copyItem(
            atPath: Checkout.products + "/libFacets.so", toPath: folder.path + "/libFacets.so")
        func check(_ fields: String) async throws -> Finished {
            try folder.write(
                "manifest.json",
                """
                {"id": "org.atrium.facets", "version": "0.1.0", "kind": "filters", "title": "Facets",
                 "library": "libFacets.so", "conformance": {
                    "settings": {"sections": [{"id": "made", "field": "made"}]},
                    \(fields) "examples": "e.json"}}
                """)
            return try await run([Installed.worker, "--check", folder.path])
        }
        let checked = try await check(#""fields": [{"name": "made", "type": "integer"}],"#)
        #expect(checked.status == 0, "\(checked)")
        #expect(checked.output.contains("✓ 1 example of what it does"), "\(checked)")
        let other = try await check("")
        #expect(other.status == 1)
        #expect(other.output.contains("made"), "the suite's fields have it: \(other)")
    }

    @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "the program is in Python"))
    func `is slow may be so in a worker, too, as long as it is said`() async throws {
        let folder = try TemporaryDirectory()
        let program = try folder.write(
            "slow.py",
            """
            #!/usr/bin/python3
            import json, time

            def reply(name, parameters):
                if name == "Hello": return {"protocol": 1}
                # More than a worker's call may take by default.
                if name == "Post" and parameters["draft"]["text"] == "slow": time.sleep(5.5)
                return {}

            socket, waiting = open(3, "r+b", buffering=0), b""
            while arrived := socket.read(1 << 16):
                *calls, waiting = (waiting + arrived).split(b"\\0")
                for call in map(json.loads, calls):
                    said = reply(call["method"].rpartition(".")[2], call.get("parameters", {}))
                    socket.write(json.dumps({"parameters": said}).encode() + b"\\0")
            """)
        chmod(program, 0o755)
        try folder.write(
            "manifest.json",
            #"{"id": "org.test.slow", "version": "1.0.0", "kind": "comments", "program": "slow.py", "#
                + #""title": "Slow", "callSeconds": 20, "conformance": {"examples": "e.json"}}"#)
        try folder.write("e.json", #"{"examples": [{"steps": [{"post": "slow"}]}]}"#)
        let checked = try await run([Installed.worker, "--check", folder.path])
        #expect(checked.status == 0, "\(checked)")
        #expect(checked.output.contains("✓ 1 example of what it does"), "\(checked)")
    }
}
