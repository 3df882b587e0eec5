import Foundation
import TestSupport
import Testing

extension Stories {
    /// The web gateway of the examples: `Tests/Web` has its tests, in Python as it is.
    @Suite struct Web {
        @Test func `the gateway keeps each browser to itself, and strangers out`() async throws {
            try await Self.run("test_gateway")
        }

        @Test func `texts in markdown are read in turns, as far as that takes short`() async throws
        {
            try await Self.run("test_prose")
        }

        @Test(.enabled(if: Self.hasBrowser, "run 'make test-deps' for Chromium"))
        func `the page is live in a browser, on a desk and on a phone`() async throws {
            try await Self.run("test_page")
        }

        @Test(.enabled(if: Self.hasBrowser, "run 'make test-deps' for Chromium"))
        func `items, scopes and parts have addresses, and Back leads to where one was`()
            async throws
        {
            try await Self.run("test_item")
        }

        @Test(
            .enabled(
                if: Self.hasBrowser && FileManager.default.fileExists(atPath: Self.axe),
                "run 'make test-deps' for Chromium and axe-core"))
        func `axe-core finds nothing that keeps anybody out of the page`() async throws {
            try await Self.run("test_access")
        }

        @Test(.enabled(if: Self.hasBrowser, "run 'make test-deps' for Chromium"))
        func `each of the systems is shown`() async throws {
            try await Self.run("test_systems")
        }

        @Test(.enabled(if: Self.hasBrowser, "run 'make test-deps' for Chromium"))
        func `a held comment is seen by its author, and by moderators in a queue`() async throws {
            try await Self.run("test_moderating")
        }

        private static let axe = Checkout.root + "/.build/venv/share/axe.min.js"
        private static let hasBrowser = ["chromium", "chromedriver"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
        }

        /// Runs a module of tests, with our programs in its path.
        private static func run(_ module: String) async throws {
            let tree = try await Installed.tree
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            let done = try await TestSupport.run(
                ["timeout", "--signal=INT", "--kill-after=10", "300"]
                    + ["/usr/bin/python3", "-B", "-m", "unittest", module],
                environment: [
                    "PATH": "\(tree.bin):\(path)", "EXAMPLES": tree.examples, "AXE": axe,
                ],
                in: Checkout.root + "/Tests/Web")
            #expect(done.status == 0, "\(done)")
            #expect(done.errors.contains("\nOK\n"), "all of them ran: \(done)")
        }
    }
}
