import Foundation
import TestSupport

/// The programs, plugins and examples as `make install` lays them down: once for all tests.
struct Installed: Sendable {
    /// The checkout.
    static let checkout = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false).trimmed

    /// The Python that `make test-deps` gave the package varlink; nil without.
    static let python: String? = {
        let path = checkout + "/.build/venv/bin/python3"
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    private static let layingDown = Task { try await Installed() }

    let bin: String
    let examples: String

    /// The tree, which the first who asks lays down.
    static var tree: Installed {
        get async throws { try await layingDown.value }
    }

    private init() async throws {
        let path = Self.place.path
        let made = try await run(
            [
                "make", "-C", Self.checkout, "lay-down", "DESTDIR=\(path)", "PREFIX=/usr/local",
                "PRODUCTS=\(Self.products)",
            ])
        guard made.status == 0 else { throw Unusable(description: made.errors) }
        bin = path + "/usr/local/bin"
        examples = path + "/usr/local/share/atrium/examples"
    }

    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// Where the build left the programs: beside the tests.
    private static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path(percentEncoded: false).trimmed

    /// Removed when the tests end: a global is never given back.
    private static let place: TemporaryDirectory = {
        atexit { try? FileManager.default.removeItem(atPath: Installed.place.path) }
        do { return try TemporaryDirectory() } catch { preconditionFailure("\(error)") }
    }()
}

extension String {
    /// Without a slash at the end.
    fileprivate var trimmed: String { hasSuffix("/") ? String(dropLast()) : self }
}
