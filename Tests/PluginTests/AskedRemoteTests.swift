import AtriumKit
import AtriumKitTesting
import Foundation
import Testing

@testable import Remote

/// One that is asked for each search.
@Suite struct AskedRemoteTests {
    private let service: JSONService

    init() throws { service = try JSONService { _ in .init(body: "[]") } }

    private func host(_ ask: Value, _ settings: [String: Value] = [:]) async throws -> MemoryHost {
        let host = try MemoryHost(
            Remote.self,
            settings: ["url": .text(service.url("/find?lang=en#top")), "ask": ask].merging(settings)
            { $1 },
            fields: [Field(name: "title", type: .text)])
        await host.settle()
        return host
    }

    private static func document(_ range: Range<Int>) -> String {
        "[" + range.map { #"{"id": "\#($0)"}"# }.joined(separator: ",") + "]"
    }

    @Test func `a question becomes parameters of the URL`() async throws {
        let host = try await host([
            "search": "q", "path": "under", "sort": "by", "limit": "n", "cursor": "from",
        ])
        #expect(host.asks)
        #expect(service.requests.isEmpty, "nobody asked so far")
        service.answer(#"{"all": 3, "found": [{"id": "x"}], "more": 2}"#)
        let asked = host.ask(
            ContentQuestion(
                search: "a&b c/é", path: ["o", "u=1"], sort: ["-title"], limit: 1, cursor: "7"))
        await host.settle()
        #expect(
            service.requests[0].target
                == "/find?lang=en&q=a%26b+c%2f%c3%a9&under=u%3d1&by=-title&n=1&from=7",
            "\(service.requests[0].target)")
        #expect(asked.answer?.items == [Item(id: "x", fields: [:], parent: "u=1")])
        #expect(asked.answer?.next == "8", "it counts, since nothing says where the next are")
    }

    @Test func `how many there are and where the next begin is found by pointers`() async throws {
        let host = try await host(
            ["cursor": "from"], ["items": "/found", "total": "/all", "next": "/more"])
        service.answer(#"{"all": 3, "found": [{"id": "x"}], "more": "y"}"#)
        let first = host.ask(ContentQuestion(limit: 1))
        await host.settle()
        #expect(first.answer?.total == 3 && first.answer?.next == "y")
        service.answer(#"{"all": 3, "found": [{"id": "z"}], "more": null}"#)
        let last = host.ask(ContentQuestion(limit: 1, cursor: "y"))
        await host.settle()
        #expect(last.answer?.next == nil)
    }

    @Test(arguments: ["-1", "1000000000000000000", "null", "\"3\""])
    func `a total that can't be one is as none, and the items are shown`(
        total: String
    ) async throws {
        let host = try await host(["cursor": "from"], ["items": "/found", "total": "/all"])
        service.answer(#"{"all": \#(total), "found": [{"id": "x"}]}"#)
        let asked = host.ask(ContentQuestion(limit: 1))
        await host.settle()
        #expect(asked.answer?.items.map(\.id) == ["x"] && asked.answer?.total == nil)
    }

    @Test func `of a service without pages all is there each time`() async throws {
        let host = try await host(["search": "q"])
        service.answer(Self.document(0..<5))
        let first = host.ask(ContentQuestion(limit: 3))
        await host.settle()
        #expect(first.answer?.items.map(\.id) == ["0", "1", "2"])
        #expect(first.answer?.total == 5)
        let next = try #require(first.answer?.next)
        let second = host.ask(ContentQuestion(limit: 3, cursor: next))
        await host.settle()
        #expect(second.answer?.items.map(\.id) == ["3", "4"] && second.answer?.next == nil)
    }

    /// The ids of all pages, each with its own, until nothing is next.
    private func pages(_ host: MemoryHost, limit: Int) async throws -> [[String]] {
        var pages: [[String]] = []
        var cursor: String?
        repeat {
            let asked = host.ask(ContentQuestion(limit: limit, cursor: cursor))
            await host.settle()
            let answer = try #require(asked.answer)
            pages.append(answer.items.map(\.id))
            cursor = answer.next
        } while cursor != nil && pages.count < 10
        return pages
    }

    @Test func `of pages longer than was wished nothing is left out`() async throws {
        service.answer { request in
            let isLast = request.target.hasSuffix("from=~1~x")
            let items = Self.document(isLast ? 5..<6 : 0..<5)
            return .init(body: #"{"of": \#(items), "more": \#(isLast ? "null" : #""~1~x""#)}"#)
        }
        let settings: [String: Value] = ["items": "/of", "next": "/more"]
        let told = try await pages(try await host(["cursor": "from"], settings), limit: 2)
        #expect(told == [["0", "1"], ["2", "3"], ["4"], ["5"]])
        #expect(service.requests.count == 4)
    }

    @Test func `pages shorter than was wished end nothing where the service says no next`()
        async throws
    {
        service.answer { request in
            let start = request.target.components(separatedBy: "from=").last.flatMap { Int($0) }
            return .init(body: Self.document(min(start ?? 0, 7)..<min((start ?? 0) + 3, 7)))
        }
        let host = try await host(["cursor": "from"])
        #expect(
            try await pages(host, limit: 50) == [["0", "1", "2"], ["3", "4", "5"], ["6"], []])
        #expect(
            try await pages(host, limit: 2) == [["0", "1"], ["2", "3"], ["4", "5"], ["6"], []])
    }

    @Test(arguments: [
        "9223372036854775807", "9223372036854775808", "1000000001", "-1", "k", "", "~1~",
    ])
    func `a cursor that it did not give out is refused, and nobody asked`(
        cursor: String
    ) async throws {
        for ask in [["search": "q"], ["cursor": "from"]] as [Value] {
            let host = try await host(ask)
            let asked = host.ask(ContentQuestion(cursor: cursor))
            await host.settle()
            let reply = try #require(asked.replies.first)
            let refusal = #expect(throws: Refusal.self) { try reply.get() }
            #expect(refusal?.code == .cursorInvalid)
            #expect(service.requests.isEmpty && host.services.problem == nil)
        }
        let host = try await host(["cursor": "from"], ["next": "/more"])
        let asked = host.ask(ContentQuestion(cursor: "~9223372036854775807~x"))
        let refusal = #expect(throws: Refusal.self) { try asked.replies.first?.get() }
        #expect(refusal?.code == .cursorInvalid && service.requests.isEmpty)
    }

    @Test func `clients that are let go end while they are woken`() async throws {
        let request = HTTPRequest(
            address: try Address(service.url("/")), headers: [], mostBytes: 1_000,
            timeout: .seconds(2))
        for _ in 0..<50 {
            for _ in 0..<4 { _ = try #require(HTTPClient()) }
            #expect(try await HTTPClient()?.get(request).status == 200)
        }
    }

    @Test func `one that fails says why, and is left alone as long as it wants`() async throws {
        let host = try await host(["search": "q"])
        service.answer("", status: 503, headers: ["Retry-After": "30"])
        let question = ContentQuestion(search: "what nobody shall read")
        let failed = host.ask(question)
        await host.settle()
        let reply = try #require(failed.replies.first)
        let refusal = #expect(throws: Refusal.self) { try reply.get() }
        #expect("\(String(describing: refusal))".contains("answers 503"))
        #expect(host.services.problem?.contains("nobody") == false)
        #expect(host.ask(question).replies.count == 1 && service.requests.count == 1)
        service.answer("[]")
        #expect(!host.events.contains(.contents(.replaceAll)))
        host.advance(by: .seconds(31))
        #expect(host.events.contains(.contents(.replaceAll)), "screens ask again")
        let asked = host.ask(question)
        await host.settle()
        #expect(asked.answer?.items == [] && host.services.problem == nil)
    }

    @Test(arguments: [400, 404, 410])
    func `what one question may not ask is no problem of the list`(status: Int) async throws {
        let host = try await host(["search": "q"])
        service.answer("", status: status)
        let asked = host.ask(ContentQuestion(search: "x"))
        await host.settle()
        let reply = try #require(asked.replies.first)
        let refusal = #expect(throws: Refusal.self) { try reply.get() }
        #expect(refusal?.reason.contains("answers \(status)") == true)
        #expect(host.services.problem == nil)
        host.advance(by: .seconds(600))
        await host.settle()
        #expect(service.requests.count == 1, "nothing is to be found out")
    }

    @Test func `one question that takes too long is no problem of the list, two are`() async throws
    {
        let host = try await host(["search": "q"], ["timeout": 1])
        service.answer { _ in .init(isSilent: true) }
        for search in ["x", "x", "y"] {
            #expect(host.services.problem == nil)
            let asked = host.ask(ContentQuestion(search: search))
            await host.settle()
            #expect(asked.replies.count == 1 && asked.answer == nil)
        }
        #expect(host.services.problem?.contains("in time") == true)
        // An answer to whoever it is makes the next one the first.
        service.answer("[]")
        let well = host.ask(ContentQuestion(search: "z"))
        await host.settle()
        #expect(well.answer != nil && host.services.problem == nil)
        service.answer { _ in .init(isSilent: true) }
        _ = host.ask(ContentQuestion(search: "y"))
        await host.settle()
        #expect(host.services.problem == nil)
    }

    @Test func `a service that failed is looked at until it is well, though nobody asks any more`()
        async throws
    {
        let host = try await host(["search": "q", "limit": "n"])
        service.answer("", status: 500)
        _ = host.ask(ContentQuestion(search: "what nobody else shall read"))
        await host.settle()
        #expect(host.services.problem?.contains("answers 500") == true)
        for _ in 0..<40 {
            host.advance(by: .seconds(1))
            await host.settle()
        }
        // After 1, 2, 4, 8 and 16 seconds, by chance earlier.
        let asked = service.requests.count
        #expect((5...8).contains(asked), "\(asked)")
        #expect(service.requests.dropFirst().allSatisfy { $0.target == "/find?lang=en&n=1" })
        #expect(host.services.problem != nil)
        service.answer("", status: 400)
        host.advance(by: .seconds(64))
        await host.settle()
        #expect(host.services.problem == nil, "it answers, and wants to be asked for something")
        host.advance(by: .seconds(600))
        await host.settle()
        #expect(service.requests.count == asked + 1)
    }

    @Test func `whoever wishes a look again has one at a service that failed`() async throws {
        let host = try await host(["search": "q"])
        service.answer("", status: 503, headers: ["Retry-After": "600"])
        _ = host.ask(ContentQuestion(search: "x"))
        await host.settle()
        #expect(host.services.problem != nil)
        service.answer("[]")
        host.reload()
        await host.settle()
        #expect(host.services.problem == nil)
        let asked = host.ask(ContentQuestion(search: "x"))
        await host.settle()
        #expect(asked.answer != nil)
    }

    @Test func `many questions are asked at a time`() async throws {
        let client = try #require(HTTPClient())
        service.answer { request in
            request.target.hasSuffix("slow") ? .init(isSilent: true) : .init(body: "[]")
        }
        func request(_ path: String) throws -> HTTPRequest {
            HTTPRequest(
                address: try Address(service.url(path)), headers: [], mostBytes: 1_000,
                timeout: .seconds(2))
        }
        let (slow, fast) = (try request("/slow"), try request("/fast"))
        let isFirst = try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask {
                _ = try? await client.get(slow)
                return "slow"
            }
            for _ in 0..<8 {
                group.addTask {
                    _ = try await client.get(fast)
                    return "fast"
                }
            }
            var first: [String] = []
            for _ in 0..<8 { first.append(try await group.next() ?? "") }
            return first.allSatisfy { $0 == "fast" }
        }
        #expect(isFirst)
    }
}
