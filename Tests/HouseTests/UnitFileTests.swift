import Foundation
import Testing

/// The systemd units.
///
/// `systemd-analyze verify` exits 0 on unknown keys, so what counts is that it
/// prints nothing.
struct UnitFileTests {
    private static let analyzer = "/usr/bin/systemd-analyze"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: analyzer)))
    func `systemd has nothing to say about the units`() throws {
        let directory = try Repository.temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let units = ["atriumd.service", "atriumd.socket"].map { directory.appending(path: $0) }
        for unit in units {
            let source = Repository.root.appending(path: "systemd/\(unit.lastPathComponent)")
            // The programs need not be installed where the tests run.
            try String(contentsOf: source, encoding: .utf8)
                .replacing(/\/usr\/local\/bin\/\w+/, with: "/bin/true")
                .write(to: unit, atomically: true, encoding: .utf8)
        }
        let result = try run(Self.analyzer, "verify", units[0].plainPath, units[1].plainPath)
        #expect(result.text + result.complaints == "")
        #expect(result.status == 0)
    }

    @Test func `every sandbox line of the service says why`() throws {
        let file = Repository.root.appending(path: "systemd/atriumd.service")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let first = try #require(lines.firstIndex { $0.hasPrefix("CapabilityBoundingSet") })
        let paragraph = lines[first...].prefix { $0 != "[Install]" }
        let comments = paragraph.count { $0.hasPrefix("#") }
        #expect(comments >= 10)
        #expect(
            !lines.contains { $0.hasPrefix("PrivateUsers=") }, "it would hide who the clients are")
    }
}
