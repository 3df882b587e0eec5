import Foundation
import TestSupport
import Testing

private let analyzer = "/usr/bin/systemd-analyze"

/// The systemd units, as they are installed.
///
/// `systemd-analyze verify` exits 0 on unknown keys, so what counts is that it
/// prints nothing.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: analyzer), "there is no systemd-analyze"))
struct UnitFileTests {
    /// The manager that a folder of units is for, and what is worth testing of each.
    private struct Installed {
        let folder: URL
        let units: [String]

        /// Lays all units down, with programs that are installed where the tests run.
        init(_ manager: String, in root: TemporaryDirectory) async throws {
            let laidDown = try await run([
                "make", "--silent", "-C", Checkout.root, "lay-down-units",
                "DESTDIR=\(root.path)", "PREFIX=/usr/local",
            ])
            #expect(laidDown.status == 0, "\(laidDown)")
            let folder = root.url.appending(path: "usr/local/lib/systemd/\(manager)")
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder.plainPath) {
                let file = folder.appending(path: name)
                guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
                try text.replacing(/\/usr\/local\/bin\/[\w-]+/, with: "/bin/true")
                    .write(to: file, atomically: true, encoding: .utf8)
            }
            units = try FileManager.default.contentsOfDirectory(atPath: folder.plainPath)
                .filter { !$0.hasSuffix(".d") }.sorted()
            self.folder = folder
        }

        func paths(_ suffix: String = "") -> [String] {
            units.filter { $0.hasSuffix(suffix) }.map { folder.appending(path: $0).plainPath }
        }
    }

    @Test(arguments: ["system", "user"])
    func `systemd has nothing to say about the units`(manager: String) async throws {
        let directory = try TemporaryDirectory()
        let units = try await Installed(manager, in: directory)
        #expect(units.units.contains("atriumd.service") && units.units.contains("atriumd.socket"))
        // A user's manager wants its directory, whoever runs the tests.
        let result = try await run(
            [analyzer, "--\(manager)", "verify"] + units.paths(),
            environment: ["XDG_RUNTIME_DIR": directory.path])
        #expect(result.output + result.errors == "")
        #expect(result.status == 0)
    }

    @Test func `no service of the system is exposed by more than 1`() async throws {
        let directory = try TemporaryDirectory()
        let services = try await Installed("system", in: directory).paths(".service")
        #expect(services.count >= 2)
        for service in services {
            let result = try await run([
                analyzer, "security", "--offline=true", "--threshold=10", "--no-pager", service,
            ])
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains("Overall exposure level"))
        }
    }

    @Test func `every line of the sandbox stands below a comment that says why`() throws {
        for name in ["10-life", "20-calls", "30-walls"] {
            let file = Repository.root.appending(path: "systemd/shared/\(name).conf")
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            #expect(lines.count { $0.hasPrefix("#") } >= 4)
            #expect(
                !lines.contains { $0.hasPrefix("PrivateUsers=") },
                "it would hide who the clients are")
        }
    }
}
