import Foundation
import Glibc
import Testing

@testable import PluginLoader

/// Plugins that are programs: looked at, never started here.
@Suite(.timeLimit(.minutes(1))) struct PluginProgramTests {
    private let folder: PluginFolder

    init() throws {
        folder = try PluginFolder()
        try folder.file("sample/run.sh", Data("#!/bin/sh\n".utf8))
        chmod("\(folder.path)/sample/run.sh", 0o755)
    }

    private func scan(
        _ members: [String: String?], trusted: Bool = false
    ) throws -> PluginStatus {
        let program: [String: String?] = ["library": nil, "program": "run.sh", "kind": "votes"]
        try folder.manifest("sample", program.merging(members) { _, new in new })
        let library = PluginLibrary(
            scanning: [.init(folder.path, isTrusted: trusted)], owners: [geteuid()])
        return try #require(library.plugins.first)
    }

    @Test(arguments: [false, true])
    func `a program is found, and lives in a worker wherever it came from`(
        trusted: Bool
    ) throws {
        let status = try scan([:], trusted: trusted)
        #expect(status.state == .loaded, "\(status.reason ?? "")")
        #expect(status.isolation == .process && status.isProgram)
        #expect(status.path == "\(folder.path)/sample/run.sh")
        let plugin = try #require(status.plugin)
        #expect(plugin.code == .program(status.path) && plugin.settings == nil)
        let problem = #expect(throws: PluginProblem.self) { try plugin.loaded() }
        #expect(problem?.reason.contains("is a program") == true)
    }

    @Test(
        arguments: [
            (["library": "libSample.so"], "leave one of them out"),
            (["kind": "delegate"], "a delegate lives in the daemon"),
            (["program": "../run.sh"], "a path within the manifest's folder"),
            (["program": "gone.sh"], "gone.sh"),
            (["program": nil], "a 'library' or a 'program': name one of them, as a path"),
        ] as [([String: String?], String)])
    func `one that makes no sense is refused in words`(
        members: [String: String?], word: String
    ) throws {
        let status = try scan(members)
        #expect(status.state == .refused)
        #expect(status.reason?.contains(word) == true, "\(status)")
    }

    @Test func `one that may not be executed, or that others may write to, is refused`() throws {
        chmod("\(folder.path)/sample/run.sh", 0o644)
        #expect(try scan([:]).reason?.contains("chmod +x") == true)
        #expect(try scan([:]).reason?.contains("as '#!/usr/bin/python3'") == true)
        chmod("\(folder.path)/sample/run.sh", 0o777)
        #expect(try scan([:]).reason?.contains("may be written to by others") == true)
        chmod("\(folder.path)/sample/run.sh", 0o755)
        try folder.file("sample/run.sh", Data())
        #expect(try scan([:]).reason?.contains("is empty") == true)
    }
}
