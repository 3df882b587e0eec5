import AtriumKit
import AtriumKitTesting
import Testing

@testable import Remote

/// What a list shows after a restart, while its service can't be asked.
@Suite struct RemoteKeptTests {
    private static let two = #"[{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]"#

    private let service: JSONService

    init() throws {
        service = try JSONService { _ in
            .init(headers: ["ETag": "\"1\"", "Last-Modified": "Mon"], body: Self.two)
        }
    }

    private func host(
        _ settings: [String: Value] = [:], isRequired: Bool = false, kept: [UInt8]? = nil
    ) throws -> MemoryHost {
        try MemoryHost(
            Remote.self,
            settings: [
                "url": .text(service.url("/list.json")), "authorization": ["secretFile": "/none"],
            ].merging(settings) { $1 },
            secrets: ["authorization": "Bearer hush"],
            fields: [
                Field(name: "title", type: .text),
                Field(name: "year", type: .integer, required: isRequired),
            ], kept: kept)
    }

    private func ids(_ host: MemoryHost) -> [String] {
        host.restore([]).flatMap { event -> [String] in
            if case .contents(.insert(let items)) = event { items.map(\.id) } else { [] }
        }.sorted()
    }

    @Test
    func `after a restart the last good copy is shown, and asked for only if it is another one`()
        async throws
    {
        let host = try host()
        await host.settle()
        #expect(ids(host) == ["a", "b"])
        let kept = try #require(host.services.kept)
        #expect(!String(decoding: kept, as: UTF8.self).contains("hush"))

        service.answer("", status: 500)
        try host.restart()
        await host.settle()
        #expect(ids(host) == ["a", "b"])
        #expect(host.services.problem?.contains("answers 500") == true)
        #expect(service.requests.last?.headers["if-none-match"] == "\"1\"")
        #expect(service.requests.last?.headers["if-modified-since"] == "Mon")

        service.answer("", status: 304)
        host.advance(by: .seconds(2))
        await host.settle()
        #expect(host.services.problem == nil)
        #expect(ids(host) == ["a", "b"])
        #expect(host.services.kept == kept)

        service.answer(#"[{"id": "c"}]"#)
        try host.restart()
        await host.settle()
        #expect(ids(host) == ["c"])
        try host.restart()
        service.answer("", status: 500)
        await host.settle()
        #expect(ids(host) == ["c"], "without what tells its version it is kept, too")
        #expect(service.requests.last?.headers["if-none-match"] == nil)
    }

    @Test func `a copy that makes no items any more is as if there were none`() async throws {
        let first = try host()
        await first.settle()
        let kept = try #require(first.services.kept)
        service.answer("", status: 500)
        for (bytes, isRequired) in [(kept, true), (Array(kept.dropLast()), false), ([], false)] {
            let host = try host(isRequired: isRequired, kept: bytes)
            await host.settle()
            #expect(ids(host) == [])
            #expect(host.services.problem?.contains("answers 500") == true)
            #expect(service.requests.last?.headers["if-none-match"] == nil)
        }
    }

    @Test func `a document too large to be kept is logged once, and none is kept`() async throws {
        let host = try host(kept: Array("{}\n[]".utf8))
        host.services.mostKept = 20
        await host.settle()
        host.reload()
        await host.settle()
        #expect(service.requests.count == 2)
        #expect(ids(host) == ["a", "b"] && host.services.problem == nil)
        let said = host.services.messages.filter { $0.text.contains("keptBytes") }
        #expect(said.count == 1 && said.first?.level == .warning)
        #expect(host.services.kept == nil)
    }

    @Test func `a document that is the same again is not kept again`() async throws {
        service.answer(Self.two)
        let host = try host()
        await host.settle()
        let kept = try #require(host.services.kept)
        // Keeping anything would be refused, logged, and drop what is kept.
        host.services.mostKept = 1
        host.reload()
        await host.settle()
        #expect(service.requests.count == 2)
        #expect(host.services.kept == kept && host.services.messages.isEmpty)

        service.answer(#"[{"id": "c"}]"#)
        host.reload()
        await host.settle()
        #expect(host.services.kept == nil && host.services.messages.count == 1)
    }

    @Test func `nothing is kept of a service that is asked`() async throws {
        let host = try host(["ask": ["search": "q"]])
        _ = host.ask(ContentQuestion(search: "x"))
        await host.settle()
        #expect(host.services.kept == nil)
    }
}
