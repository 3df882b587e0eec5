import Foundation
import Glibc
import Testing

/// The example service and client, as the documentation shows them.
@Suite struct GreeterTests {
    private static let checkout = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let files = [
        "Service/org.example.greeter.varlink", "Service/main.swift", "Client/main.swift",
    ]

    /// Where all products are: beside the tests.
    private static let products: URL = {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? "/"
        return URL(filePath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
    }()

    @Test func `the example client talks to the example service`() async throws {
        let directory = try makeDirectory()
        defer { rmdir(directory) }
        let socket = directory + "/socket"
        let service = try Self.start("greeter-service", socket)
        defer {
            kill(service.process.processIdentifier, SIGKILL)
            unlink(socket)
        }
        // What it prints is held back until it ends, as it goes to a pipe.
        while (try? RawClient(path: socket)) == nil {
            try #require(service.process.isRunning)
            await Task.yield()
        }
        let client = try Self.start("greeter-client", "unix:\(socket)")
        var lines: [String] = []
        while let line = await client.readLine() { lines.append(line) }
        #expect(
            lines == [
                "This is Greeter 1.0 by Example.", "Hello, World!", "3", "2", "1", "0",
                "There is nobody to greet.",
            ])
    }

    @Test(arguments: files)
    func `the documentation shows each example as it is`(_ name: String) throws {
        let file = Self.checkout.appending(path: "Examples/Greeter/\(name)")
        let example = try String(contentsOf: file, encoding: .utf8)
        let article = try String(
            contentsOf: Self.checkout.appending(
                path: "Sources/Varlink/Varlink.docc/GettingStarted.md"), encoding: .utf8)
        #expect(article.contains("\n\(example)```\n"))
        #expect(example.split(separator: "\n").count <= 30)
    }

    private static func start(_ name: String, _ argument: String) throws -> Program {
        try Program(products.appending(path: name), argument)
    }
}

/// A program whose standard output is read line by line.
private final class Program: @unchecked Sendable {
    let process = Process()
    private let output = Pipe()
    /// Touched by one reader at a time.
    private var rest: [UInt8] = []

    init(_ program: URL, _ argument: String) throws {
        process.executableURL = program
        process.arguments = [argument]
        process.standardOutput = output
        try process.run()
    }

    /// The next line; nil at the end.
    func readLine() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.waitForLine()) }
        }
    }

    private func waitForLine() -> String? {
        while !rest.contains(UInt8(ascii: "\n")) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            rest += data
        }
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest.removeFirst(line.count + 1)
        return String(decoding: line, as: UTF8.self)
    }
}
