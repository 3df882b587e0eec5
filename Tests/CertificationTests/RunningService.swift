import TestSupport
import Testing

/// A service of org.varlink.certification.
enum TestedService {
    /// Ours.
    case ours(mutant: String? = nil)
    /// The one that comes with PyPI's varlink.
    case reference

    /// What starts it on a socket.
    fileprivate func words(_ path: String) throws -> [String] {
        switch self {
        case .ours(let mutant):
            [Checkout.products + "/Certification", "--socket", path]
                + (mutant.map { ["--mutant", $0] } ?? [])
        case .reference:
            [
                try #require(Checkout.python), "-u", "-m", "varlink.tests.test_certification",
                "--varlink=unix:\(path)",
            ]
        }
    }
}

/// Runs a body against a service in a process of its own, which is stopped after it.
func withService<Result: Sendable>(
    _ service: TestedService = .ours(), _ body: (String) async throws -> Result
) async throws -> Result {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/socket"
    return try await withRunning(service.words(path), in: directory.path) { running in
        // Both say so on a line of their standard output.
        while try await !running.next().contains("Listening on") {}
        return try await body(path)
    }
}

/// Runs the Python that `make test-deps` gave varlink and asyncvarlink.
func runPython(_ arguments: [String]) async throws -> Finished {
    try await run([#require(Checkout.python)] + arguments)
}

/// The client of PyPI's asyncvarlink: a script of these tests.
let asyncvarlinkClient = Checkout.root + "/Tests/CertificationTests/Python/asyncvarlink_client.py"
