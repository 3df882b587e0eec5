import TestSupport

/// The programs, plugins and examples as `make install` lays them down: once for all tests.
struct Installed: Sendable {
    private static let layingDown = Task { try await Installed() }

    private let place: TemporaryDirectory
    let bin: String
    let examples: String

    /// The tree, which the first who asks lays down.
    static var tree: Installed {
        get async throws { try await layingDown.value }
    }

    private init() async throws {
        let place = try TemporaryDirectory()
        let path = place.path
        let made = try await run(
            [
                "make", "-C", Checkout.root, "lay-down", "DESTDIR=\(path)", "PREFIX=/usr/local",
                "PRODUCTS=\(Checkout.products)",
            ])
        guard made.status == 0 else { throw Unusable(description: made.errors) }
        self.place = place
        bin = path + "/usr/local/bin"
        examples = path + "/usr/local/share/atrium/examples"
    }

    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }
}
