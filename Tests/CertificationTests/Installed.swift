import Foundation

/// What the tests start.
enum Installed {
    /// The Python that `make test-deps` gave varlink and asyncvarlink; nil without.
    static let python: String? = {
        let path = checkout.appending(path: ".build/venv/bin/python3").path(percentEncoded: false)
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    /// Our service: the build puts it beside the tests.
    static let service = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "Certification")

    /// A script of these tests.
    static func script(_ name: String) -> String {
        tests.appending(path: "Python/\(name)").path(percentEncoded: false)
    }

    /// A file of what these tests have built.
    static func fixture(_ name: String) -> URL {
        tests.deletingLastPathComponent().appending(path: "Fixtures/\(name)")
    }

    private static let tests = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent()
    private static let checkout = tests.deletingLastPathComponent().deletingLastPathComponent()

    /// Runs Python to its end.
    ///
    /// - Returns: How it ended, and all that it wrote.
    static func run(python arguments: [String]) async throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = python.map { URL(filePath: $0) }
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = try await onThread { try output.fileHandleForReading.readToEnd() }
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data ?? Data(), as: UTF8.self))
    }
}
