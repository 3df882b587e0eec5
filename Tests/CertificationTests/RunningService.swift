import Foundation

/// A service of org.varlink.certification in a process of its own, on a socket in a directory of its own.
///
/// Unchecked: everything is set before it is shared, and only ended after that.
final class RunningService: @unchecked Sendable {
    /// The socket.
    let path: String

    private let directory: URL
    private let process = Process()
    /// Its standard input: ours ends when this is closed, also when the tests die.
    private let lifeline = Pipe()
    private let output = Pipe()

    /// What to start.
    enum Kind: Sendable {
        /// Ours.
        case ours(mutant: String? = nil)
        /// The one that comes with PyPI's varlink.
        case reference(python: String)
    }

    struct Failure: Error { let reason: String }

    /// Starts a service, and waits until it listens.
    static func start(_ kind: Kind) async throws -> RunningService {
        let service = try RunningService(kind)
        try await onThread { try service.waitUntilReady() }
        return service
    }

    private init(_ kind: Kind) throws {
        directory = FileManager.default.temporaryDirectory
            .appending(path: "certification-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        path = directory.appending(path: "socket").path(percentEncoded: false)
        switch kind {
        case .ours(let mutant):
            process.executableURL = Installed.service
            process.arguments =
                ["--socket", path] + (mutant.map { ["--mutant", $0] } ?? [])
        case .reference(let python):
            process.executableURL = URL(filePath: python)
            process.arguments = [
                "-u", "-m", "varlink.tests.test_certification", "--varlink=unix:\(path)",
            ]
        }
        process.standardInput = lifeline
        process.standardOutput = output
        process.currentDirectoryURL = directory
        try process.run()
    }

    /// Ends the process and removes its directory.
    func stop() {
        try? lifeline.fileHandleForWriting.close()
        // A process started on a thread of Dispatch inherits that it has SIGTERM blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Both services say so on a line of their standard output.
    private func waitUntilReady() throws {
        var text = ""
        while !text.contains("Listening on") || !text.hasSuffix("\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Failure(reason: "it did not start: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
    }
}

/// Runs a body against a service, which is stopped after it.
func withService<Result>(
    _ kind: RunningService.Kind = .ours(), _ body: (String) async throws -> Result
) async throws -> Result {
    let service = try await RunningService.start(kind)
    defer { service.stop() }
    return try await body(service.path)
}

/// Waits on a thread that is not one of those that all tests share.
func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}
