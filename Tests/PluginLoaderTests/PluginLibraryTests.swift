import AtriumKit
import Foundation
import Testing

@testable import PluginLoader

@Suite(.timeLimit(.minutes(3))) struct PluginLibraryTests {
    private let folder: PluginFolder

    init() throws { folder = try PluginFolder() }

    private func scan(trusted: Bool = false) -> PluginLibrary {
        PluginLibrary(scanning: [.init(folder.path, isTrusted: trusted)])
    }

    @Test func `a relative directory is the one below the present directory`() {
        let present = FileManager.default.currentDirectoryPath
        #expect(PluginLibrary.Directory(".").path == present)
        #expect(PluginLibrary.Directory("plugins").path == "\(present)/plugins")
        #expect(PluginLibrary.Directory("/opt/plugins").path == "/opt/plugins")
    }

    @Test func `a trusted plugin is loaded and its settings are known`() async throws {
        try folder.manifest("sample")
        try await folder.plugin("sample/libSample.so", swift: Sources.real)
        let library = scan(trusted: true)
        let status = try #require(library.plugins.first)
        #expect(status.state == .loaded, "\(status.reason ?? "")")
        let plugin = try #require(library.plugin("org.test.sample"))
        #expect(plugin.isolation == .daemon)
        #expect(plugin.settings?.map(\.name) == ["folder"])
        // Loaded again it is the same class, and not another one of the same name.
        let again = try PluginLoading.component(
            plugin.path, id: plugin.id, kind: plugin.kind)
        #expect(plugin.component.map { $0 == again } == true)
        #expect(throws: PluginProblem.self) {
            try PluginLoading.component(plugin.path, id: plugin.id, kind: .votes)
        }
    }

    @Test func `a plugin that is not trusted is probed and not loaded here`() async throws {
        try folder.manifest("sample")
        try await folder.library("sample/libSample.so", c: Sources.plugin)
        let library = scan()
        #expect(library.plugins.map(\.state) == [.loaded])
        let plugin = try #require(library.plugin("org.test.sample"))
        #expect(plugin.isolation == .process)
        #expect(plugin.component == nil && plugin.settings == nil)
        #expect(library.identifiers == ["org.test.sample"])
    }

    @Test func `a plugin may ask for a process of its own, and for nothing else`() async throws {
        try folder.manifest("sample", ["isolation": "process"])
        try await folder.library("sample/libSample.so", c: Sources.plugin)
        let plugin = try #require(scan(trusted: true).plugin("org.test.sample"))
        #expect(plugin.isolation == .process && plugin.component == nil)
        for (kind, wish) in [("contents", "daemon"), ("delegate", "process")] {
            try folder.manifest("sample", ["kind": kind, "isolation": wish])
            let refused = try #require(scan(trusted: true).plugins.first)
            #expect(refused.state == .refused)
            #expect(refused.reason?.contains("'isolation'") == true, "\(refused)")
        }
    }

    @Test func `a delegate is loaded from a trusted folder, or where the administrator named it`()
        async throws
    {
        try folder.manifest("sample", ["kind": "delegate"])
        try await folder.plugin("sample/libSample.so", swift: Sources.delegate)
        let refused = try #require(scan().plugins.first)
        #expect(refused.state == .refused && refused.kind == .delegate)
        #expect(refused.reason?.contains("'delegates: [org.test.sample]'") == true)
        let named = PluginLibrary(
            scanning: [.init(folder.path)], delegates: ["org.test.sample"])
        for library in [scan(trusted: true), named] {
            let status = try #require(library.plugins.first)
            #expect(status.state == .loaded, "\(status.reason ?? "")")
            #expect(status.isolation == .daemon && status.settings?.map(\.name) == ["key"])
            #expect(library.delegate("org.test.sample") != nil)
            #expect(library.plugin("org.test.sample") == nil && library.identifiers == [])
            #expect(library.delegateIdentifiers == ["org.test.sample"])
        }
        try folder.manifest("sample", ["kind": "votes"])
        let wrong = try #require(scan(trusted: true).plugins.first)
        #expect(wrong.state == .failed)
        #expect(wrong.reason?.contains("'delegate', and the manifest says 'votes'") == true)
    }

    @Test func `a library that breaks while loading has failed and others go on`() async throws {
        // As far as its symbols say it is a plugin; its function hands over nothing.
        try folder.manifest("a")
        try await folder.library("a/libSample.so", c: Sources.plugin)
        try folder.manifest("b", ["id": "org.test.other", "library": "libGone.so"])
        try folder.file("c/manifest.json", Data("{".utf8))
        try folder.manifest("d", ["version": "0.9.0"])
        try await folder.plugin("d/libSample.so", swift: Sources.real)
        let library = scan(trusted: true)
        #expect(library.plugins.map(\.state) == [.failed, .refused, .refused, .loaded])
        #expect(
            library.plugins.map(\.id) == [
                "org.test.sample", "org.test.other", "c", "org.test.sample",
            ])
        #expect(library.plugins[0].reason?.contains("returned nothing") == true)
        #expect(library.plugins[1].reason?.contains("libGone.so: No such file") == true)
        #expect(library.plugin("org.test.sample")?.version == "0.9.0")
    }

    @Test func `of one id the newest version counts, then the earliest directory`() async throws {
        for (name, version) in [
            ("one/a", "1.2.0"), ("one/b", "1.10.0-beta"), ("two/a", "1.10.0"),
            ("two/b", "1.10.0"), ("three/a", "1.10.0"),
        ] {
            try folder.manifest(name, ["version": version])
            try await folder.library("\(name)/libSample.so", c: Sources.plugin)
        }
        let library = PluginLibrary(
            scanning: ["one", "two", "three"].map { .init("\(folder.path)/\($0)") })
        #expect(
            library.plugins.map(\.state)
                == [.superseded, .superseded, .loaded, .superseded, .superseded])
        #expect(library.plugin("org.test.sample")?.path == "\(folder.path)/two/a/libSample.so")
        #expect(library.plugins[0].reason?.contains("1.10.0") == true)
        #expect(library.plugins[4].reason?.contains("two/a") == true)
    }

    @Test func `a newer copy that is refused does not displace an older one`() async throws {
        try folder.manifest("new", ["version": "2.0.0"])
        try await folder.library("new/libSample.so", c: Sources.otherEpoch)
        try folder.manifest("old")
        try await folder.library("old/libSample.so", c: Sources.plugin)
        let library = scan()
        #expect(library.plugins.map(\.state) == [.refused, .loaded])
        #expect(library.plugin("org.test.sample")?.version == "1.0.0")
    }

    @Test func `a manifest in the directory itself and links are found`() async throws {
        try folder.manifest("real")
        try await folder.library("real/libSample.so", c: Sources.plugin)
        let direct = PluginLibrary(scanning: [.init("\(folder.path)/real")])
        #expect(direct.plugins.map(\.state) == [.loaded])
        for name in ["manifest.json", "libSample.so"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/links/sample", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/links/sample/\(name)",
                withDestinationPath: "\(folder.path)/real/\(name)")
        }
        let linked = PluginLibrary(scanning: [.init("\(folder.path)/links")])
        #expect(linked.plugins.map(\.state) == [.loaded])
    }

    @Test func `a directory that is not there is skipped and one that is none is logged`() throws {
        let file = try folder.file("file", Data())
        let library = PluginLibrary(scanning: [.init("\(folder.path)/none"), .init(file)])
        #expect(library.plugins.isEmpty)
        #expect(library.problems.count == 1)
        #expect(library.problems.first?.contains(file) == true)
    }

    @Test(
        arguments: [
            ("id", "a b", "dotted words"), ("id", nil, "'id' is missing"), ("id", "a..b", "dotted"),
            ("version", "1.2", "a version, as 1.2.3"), ("version", "01.2.3", "found \"01.2.3\""),
            ("kind", "vote", "one of contents, filters, votes, comments"),
            ("library", "/etc/passwd", "within the manifest's folder"),
            ("library", "../x.so", "within the manifest's folder"),
            ("title", "", "'title': expected a text"), ("titel", "x", "'titel' is unknown"),
        ] as [(String, String?, String)])
    func `a bad manifest is refused with file, member and what is expected`(
        member: String, value: String?, expected: String
    ) throws {
        let path = try folder.manifest("sample", [member: value])
        let status = try #require(scan().plugins.first)
        #expect(status.state == .refused)
        let reason = try #require(status.reason)
        #expect(reason.contains(path))
        #expect(reason.contains(expected), "\(reason)")
    }

    @Test func `versions are ordered as semver says`() throws {
        let ordered = try [
            "0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2",
            "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.10.0", "2.0.0",
        ].map { try #require(SemanticVersion($0), "\($0)") }
        #expect(ordered.shuffled().sorted() == ordered)
        for (index, version) in ordered.enumerated() {
            for later in ordered[(index + 1)...] { #expect(version < later && !(later < version)) }
        }
        #expect(
            SemanticVersion("1.0.0+a.1").map { !($0 < ordered[7]) && !(ordered[7] < $0) } == true)
        for bad in ["", "1", "1.2", "1.2.3.4", "a.b.c", "1.2.3-", "1.2.3+", "-1.2.3", "1.2.3-a..b"]
        {
            #expect(SemanticVersion(bad) == nil, "\(bad)")
        }
    }
}
