import Foundation
import Glibc
import TestSupport
import Testing

@testable import PluginLoader

/// Who may put plugins where the daemon finds them.
@Suite(.timeLimit(.minutes(3))) struct PluginTrustTests {
    private let folder: PluginFolder

    init() throws {
        folder = try PluginFolder()
        try folder.manifest("plugins/sample")
        try folder.file("plugins/sample/libSample.so", Data())
    }

    private func scan(owners: Set<UInt32> = [geteuid()]) -> PluginLibrary {
        PluginLibrary(scanning: [.init("\(folder.path)/plugins")], owners: owners)
    }

    @Test(arguments: [0o757, 0o1777])
    func `a plugin directory that others may write to is not looked into`(mode: mode_t) throws {
        chmod("\(folder.path)/plugins", mode)
        let library = scan()
        #expect(library.plugins.isEmpty)
        let problem = try #require(library.problems.first)
        #expect(problem.contains("\(folder.path)/plugins may be written to by others"))
        #expect(problem.contains("mode \(String(mode, radix: 8))"), "\(problem)")
        #expect(problem.contains("chmod o-w"), "\(problem)")
    }

    @Test func `so is one within such a folder, but for a sticky one such as /tmp`() throws {
        chmod(folder.path, 0o757)
        #expect(scan().problems.first?.contains("\(folder.path) may be written to") == true)
        chmod(folder.path, 0o1777)
        #expect(scan().problems == [])
        #expect(scan().plugins.count == 1)
    }

    @Test(arguments: ["plugins/sample", "plugins/sample/manifest.json"])
    func `a plugin that others may write to is refused with its path and mode`(
        name: String
    ) throws {
        #expect(scan().plugins.first?.reason?.contains("may be written to") == false)
        chmod("\(folder.path)/\(name)", 0o722)
        let status = try #require(scan().plugins.first)
        #expect(status.state == .refused)
        #expect(
            status.reason?.contains(
                "\(folder.path)/\(name) may be written to by others (mode 722)") == true)
    }

    @Test func `what is no file is refused as that, and nobody told to change its mode`() throws {
        let manifest = "\(folder.path)/plugins/sample/manifest.json"
        try FileManager.default.removeItem(atPath: manifest)
        symlink("/dev/zero", manifest)
        let status = try #require(scan().plugins.first)
        #expect(status.state == .refused)
        #expect(status.reason == "\(manifest) is no regular file.", "\(status.reason ?? "")")
    }

    @Test func `its library too`() throws {
        chmod("\(folder.path)/plugins/sample/libSample.so", 0o666)
        let reason = try #require(scan().plugins.first?.reason)
        #expect(reason.contains("libSample.so may be written to by others"), "\(reason)")
    }

    @Test func `a link leads nowhere that others may write to, on its whole way`() throws {
        mkdir("\(folder.path)/open", 0o700)
        chmod("\(folder.path)/open", 0o777)
        symlink("../plugins", "\(folder.path)/open/hop")
        symlink("open/hop", "\(folder.path)/link")
        let library = PluginLibrary(
            scanning: [.init("\(folder.path)/link")], owners: [geteuid()])
        #expect(library.plugins.isEmpty)
        #expect(library.problems.first?.contains("\(folder.path)/open may be") == true)
        chmod("\(folder.path)/open", 0o755)
        let closed = PluginLibrary(
            scanning: [.init("\(folder.path)/link")], owners: [geteuid()])
        #expect(closed.problems == [])
        #expect(closed.plugins.count == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "gives files away, as root alone can"))
    func `what belongs to somebody else is refused`() throws {
        chown("\(folder.path)/plugins/sample", 20_001, 20_001)
        let reason = try #require(scan().plugins.first?.reason)
        #expect(
            reason.contains("\(folder.path)/plugins/sample belongs to the user 20001"), "\(reason)")
        #expect(scan(owners: [20_001]).plugins.first?.reason?.contains("belongs") == false)
    }

    @Test func `the id of a plugin that came with the daemon is nobody else's`() async throws {
        try await folder.library("plugins/sample/libSample.so", c: Sources.plugin)
        try folder.manifest("other/sample", ["version": "9.0.0"])
        try await folder.library("other/sample/libSample.so", c: Sources.plugin)
        let library = PluginLibrary(
            scanning: [
                .init("\(folder.path)/other"), .init("\(folder.path)/plugins", isTrusted: true),
            ])
        #expect(library.plugins[0].state == .refused)
        let reason = try #require(library.plugins[0].reason)
        #expect(reason.contains("'org.test.sample'"))
        #expect(reason.contains("give this one an id of its own"))
        #expect(library.plugin("org.test.sample")?.path.contains("/other/") != true)
    }
}
