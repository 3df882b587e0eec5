import Foundation
import TestSupport
import Testing

/// The example service and client, as the documentation shows them.
@Suite(.timeLimit(.minutes(3))) struct GreeterTests {
    private static let files = [
        "Service/org.example.greeter.varlink", "Service/main.swift", "Client/main.swift",
    ]

    @Test func `the example client talks to the example service`() async throws {
        let directory = try TemporaryDirectory()
        let socket = directory.path + "/socket"
        try await withRunning([Checkout.products + "/greeter-service", socket]) { _ in
            // What it prints is held back until it ends, as it goes to a pipe.
            try await until { (try? RawClient(path: socket)) != nil }
            let client = try await run([Checkout.products + "/greeter-client", "unix:\(socket)"])
            #expect(
                client.lines == [
                    "This is Greeter 1.0 by Example.", "Hello, World!", "3", "2", "1", "0",
                    "There is nobody to greet.",
                ])
        }
    }

    @Test(arguments: files)
    func `the documentation shows each example as it is`(_ name: String) throws {
        let example = try String(
            contentsOfFile: Checkout.root + "/Examples/Greeter/\(name)", encoding: .utf8)
        let article = try String(
            contentsOfFile: Checkout.root + "/Sources/Varlink/Varlink.docc/GettingStarted.md",
            encoding: .utf8)
        #expect(article.contains("\n\(example)```\n"))
        #expect(example.split(separator: "\n").count <= 30)
    }
}
