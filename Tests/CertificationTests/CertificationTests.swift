import Certification
import Foundation
import JSONCodec
import TestSupport
import Testing
import Varlink
import VarlinkIDL

private let hasPython = Checkout.python != nil
private let why: Comment = "run 'make test-deps' for Python's varlink and asyncvarlink"

/// Clients and services that others wrote, against ours.
@Suite(.timeLimit(.minutes(3))) struct CertificationTests {
    @Test(.enabled(if: hasPython, why))
    func `the client of PyPI's varlink passes against our service`() async throws {
        try await withService { path in
            let client = try await runPython([
                "-m", "varlink.tests.test_certification", "--client", "--varlink=unix:\(path)",
            ])
            #expect(client.status == 0, "\(client)")
            #expect(
                client.output.contains("End: {'all_ok': True}\nCertification passed\n"),
                "\(client)")
        }
    }

    @Test(.enabled(if: hasPython, why))
    func `the client of PyPI's asyncvarlink passes against our service`() async throws {
        try await withService { path in
            let client = try await runPython([asyncvarlinkClient, path])
            #expect(client.description == "status 0\nCertification passed\n")
        }
    }

    @Test(.enabled(if: hasPython, why))
    func `our client passes against the service of PyPI's varlink`() async throws {
        try await withService(.reference) { path in
            let client = CertifiedClient(client: try await .connect(unixPath: path))
            let outcome = try await client.run()
            #expect(outcome.isOK)
            #expect(outcome.strings == (1...10).map { "Reply number \($0)" })
        }
    }

    @Test func `the service returns its definition as it was written, comments included`()
        async throws
    {
        let file = "/Tests/Fixtures/Certification/org.varlink.certification.varlink"
        let written = try String(contentsOfFile: Checkout.root + file, encoding: .utf8)
        #expect(try InterfaceDefinition(written).errors[0].documentation.contains("it is over"))
        try await withService { path in
            let client = try await VarlinkClient.connect(unixPath: path)
            let told = try await client.call(
                VarlinkService.GetInterfaceDescription.self,
                .init(interface: "org.varlink.certification"))
            #expect(told.description == written)
        }
    }

    @Test func `our client passes against our service`() async throws {
        try await withService { path in
            let client = CertifiedClient(client: try await .connect(unixPath: path))
            #expect(try await client.run().isOK)
        }
    }

    @Test(.enabled(if: hasPython, why))
    func `our definition declares what asyncvarlink derives from its types`() async throws {
        let described = try await runPython([asyncvarlinkClient, "--describe"])
        let theirs = try InterfaceDefinition(described.output)
        let ours = try InterfaceDefinition(Certification.description)
        #expect(theirs.name == ours.name)
        #expect(Set(theirs.lines) == Set(ours.lines))
        #expect(ours.lines.count == 17)
    }
}

/// What our service says to clients that are wrong.
@Suite(.timeLimit(.minutes(3))) struct RefusalTests {
    @Test func `a run that does not exist is a ClientIdError`() async throws {
        try await withService { path in
            let client = try await VarlinkClient.connect(unixPath: path)
            let error = await #expect(throws: VarlinkRemoteError.self) {
                try await client.call(Certification.Test01.self, .init(client_id: "nobody"))
            }
            #expect(error?.as(Certification.ClientIdError.self) != nil)
        }
    }

    @Test func `a call that is not the next one is a CertificationError, and ends the run`()
        async throws
    {
        try await withService { path in
            let client = try await VarlinkClient.connect(unixPath: path)
            let run = try await client.call(Certification.Start.self, .init()).client_id
            let error = await #expect(throws: VarlinkRemoteError.self) {
                try await client.call(Certification.End.self, .init(client_id: run))
            }
            let refused = try #require(error?.as(Certification.CertificationError.self))
            #expect(refused.wants.value["method"] == "org.varlink.certification.Test01")
            #expect(refused.got.value["method"] == "org.varlink.certification.End")
            #expect(refused.got.value["parameters"]?["client_id"]?.string == run)
            let next = await #expect(throws: VarlinkRemoteError.self) {
                try await client.call(Certification.Test01.self, .init(client_id: run))
            }
            #expect(next?.name == Certification.ClientIdError.name)
        }
    }

    @Test func `a method that is called in another way than it wants says so`() async throws {
        try await withService { path in
            let more = try await Conversation(
                Script.right.prefix(9) + [Script.right[9].without("more")], with: path)
            #expect(
                more.replies.last?.first?["error"] == "org.varlink.service.ExpectedMore")
            let oneway = try await Conversation(
                Script.right.prefix(10) + [Script.right[10].without("oneway")], with: path)
            let refused = try #require(oneway.replies.last?.first)
            #expect(refused["error"] == "org.varlink.certification.CertificationError")
            #expect(refused["parameters"]?["wants"]?["oneway"] == true)
            #expect(refused["parameters"]?["got"]?["oneway"] == nil)
        }
    }
}

extension Call {
    fileprivate func without(_ flag: String) -> Call {
        var call = self
        call.flag = nil
        return call
    }
}

extension InterfaceDefinition {
    /// Each member on a line.
    fileprivate var lines: [String] {
        types.map { "type \($0.name) \($0.type)" }
            + methods.map { "method \($0.name)\($0.parameters) -> \($0.reply)" }
            + errors.map { "error \($0.name) \($0.parameters)" }
    }
}
