import AtriumKit
import AtriumKitTesting
import Remote
import TestSupport
import Testing

/// A service that answers with and without encryption, by certificates of an authority that nobody else trusts.
@Suite struct RemoteEncryptionTests {
    private static let folder = Checkout.root + "/Tests/Fixtures/TLS"

    /// Lets a list ask a service with a certificate, and gives what came of it.
    private func ask(
        _ certificate: String, _ place: String = "https:/list.json",
        _ settings: [String: Value] = [:]
    ) async throws -> (problem: String?, titles: [String]) {
        try await withRunning(["/usr/bin/python3", Self.folder + "/serve", certificate]) {
            service in
            let port = try await service.next()
            let parts = place.split(separator: ":", maxSplits: 1)
            let host = try MemoryHost(
                Remote.self,
                settings: ["url": .text("\(parts[0])://127.0.0.1:\(port)\(parts[1])")].merging(
                    settings
                ) { $1 },
                secrets: settings["authorization"] == nil ? [:] : ["authorization": "Bearer hush"],
                fields: [Field(name: "title", type: .text)])
            await host.settle()
            let items = host.restore([]).flatMap { event -> [Item] in
                if case .contents(.insert(let items)) = event { items } else { [] }
            }
            return (host.services.problem, items.compactMap { $0.fields["title"]?.text })
        }
    }

    private var authority: [String: Value] { ["caFile": .text(Self.folder + "/authority.pem")] }

    @Test func `a certificate of an authority that the setting names is trusted`() async throws {
        let found = try await ask("good", "https:/list.json", authority)
        #expect(found.problem == nil)
        #expect(found.titles == ["https nobody"])
    }

    @Test func `one of an authority that nobody names is not, and the setting is named`()
        async throws
    {
        let found = try await ask("good")
        #expect(found.titles == [])
        let problem = try #require(found.problem)
        #expect(problem.contains("certificate") && problem.contains("'caFile'"), "\(problem)")
    }

    @Test(arguments: [("expired", "expired"), ("elsewhere", "match")])
    func `one that is over, or of another host, is not trusted`(
        certificate: String, reason: String
    ) async throws {
        let found = try await ask(certificate, "https:/list.json", authority)
        #expect(found.titles == [])
        let problem = try #require(found.problem)
        #expect(problem.contains(reason) && !problem.contains("'caFile'"), "\(problem)")
    }

    @Test func `a file of certificates that is not there is named`() async throws {
        let found = try await ask("good", "https:/list.json", ["caFile": "/none/ca.pem"])
        #expect(found.titles == [])
        #expect(
            found.problem?.contains("/none/ca.pem") == true, "\(String(describing: found.problem))")
    }

    @Test func `a redirect to the same host with encryption is followed, secret and all`()
        async throws
    {
        let settings = authority.merging(["authorization": ["secretFile": "/none"]]) { $1 }
        let found = try await ask("good", "http:/moved", settings)
        #expect(found.problem == nil)
        #expect(found.titles == ["https Bearer hush"])
    }
}
