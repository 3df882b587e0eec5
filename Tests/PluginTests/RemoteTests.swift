import AtriumKit
import AtriumKitTesting
import Foundation
import Testing

@testable import Remote

/// The list of a service that answers with JSON, on this machine.
@Suite struct RemoteTests {
    private static let fields = [
        Field(name: "title", type: .text, required: true), Field(name: "year", type: .integer),
    ]
    private static let two = #"[{"id": "a", "title": "A"}, {"id": "b", "title": "B", "year": 7}]"#

    private let service: JSONService

    init() throws { service = try JSONService { _ in .init(body: Self.two) } }

    private func host(
        _ settings: [String: Value] = [:], secrets: [String: String] = [:]
    ) async throws -> MemoryHost {
        let host = try MemoryHost(
            Remote.self,
            settings: ["url": .text(service.url("/list.json"))].merging(settings) { $1 },
            secrets: secrets, fields: Self.fields)
        await host.settle()
        return host
    }

    private func items(_ host: MemoryHost) -> [String: [String: Value]] {
        var items: [String: [String: Value]] = [:]
        for case .contents(.insert(let some)) in host.restore([]) {
            for item in some { items[item.id] = item.fields }
        }
        return items
    }

    @Test func `a document is read, and asked for again only if it is another one`() async throws {
        service.answer(Self.two, headers: ["ETag": "\"1\"", "Last-Modified": "Mon"])
        let host = try await host(["every": 10])
        #expect(items(host) == ["a": ["title": "A"], "b": ["title": "B", "year": 7]])
        #expect(service.requests[0].headers["if-none-match"] == nil)
        #expect(service.requests[0].headers["accept"] == "application/json")
        service.answer("", status: 304)
        let told = host.events.count
        host.advance(by: .seconds(11))
        await host.settle()
        #expect(service.requests.count == 2)
        #expect(service.requests[1].headers["if-none-match"] == "\"1\"")
        #expect(service.requests[1].headers["if-modified-since"] == "Mon")
        #expect(host.events.count == told && items(host).count == 2)

        service.answer(#"[{"id": "b", "title": "B2"}, {"id": "c", "title": "C"}]"#)
        host.reload()
        await host.settle()
        #expect(service.requests[2].headers["if-none-match"] == nil)
        #expect(
            host.events[told...].map { "\($0)" }.count == 3, "one came, one changed, one went")
        #expect(items(host) == ["b": ["title": "B2"], "c": ["title": "C"]])
    }

    @Test func `whoever posts the topic has it look again, soon and once`() async throws {
        let host = try await host(["reloadOn": "films.refresh"])
        for _ in 0..<5 { host.post("films.refresh") }
        host.post("films.other")
        host.advance(by: .seconds(2))
        await host.settle()
        #expect(service.requests.count == 2)
    }

    @Test func `a topic that is posted all the time puts no look off`() async throws {
        let host = try await host(["reloadOn": "films.refresh", "every": 86_400])
        for _ in 0..<8 {
            host.post("films.refresh")
            host.advance(by: .milliseconds(500))
            await host.settle()
        }
        #expect((4...5).contains(service.requests.count), "\(service.requests.count)")
    }

    @Test func `what is wanted while it is read is done when that ends`() async throws {
        service.answer(Self.two, headers: ["ETag": "\"1\""])
        let host = try await host(["reloadOn": "films.refresh", "every": 86_400])
        // None of these has ended when the next is wanted.
        host.reload()
        host.reload()
        host.post("films.refresh")
        await host.settle()
        #expect(service.requests.count == 3)
        #expect(service.requests[2].headers["if-none-match"] == nil)

        host.reload()
        host.post("films.refresh")
        await host.settle()
        #expect(service.requests.count == 4)
        host.advance(by: .seconds(2))
        await host.settle()
        #expect(service.requests.count == 5)
        #expect(service.requests[4].headers["if-none-match"] == "\"1\"")
    }

    @Test func `of several arrays none is taken for the items by chance`() async throws {
        service.answer(#"{"errors": [], "data": [{"id": "a", "title": "A"}], "tags": ["t"]}"#)
        let host = try await host()
        #expect(items(host) == ["a": ["title": "A"]])
        for (body, reason) in [
            (#"{"errors": [], "data": []}"#, "empty array 'errors'"),
            (#"{"errors": [], "data": null}"#, "empty array 'errors'"),
            (#"{"more": [{"id": "b"}], "data": [{"id": "c"}]}"#, "in 'more' or in 'data'"),
        ] {
            service.answer(body)
            host.reload()
            await host.settle()
            let problem = try #require(host.services.problem)
            #expect(problem.contains(reason) && problem.contains("setting 'items'"), "\(problem)")
            #expect(items(host).count == 1)
        }
        service.answer(#"{"data": []}"#)
        host.reload()
        await host.settle()
        #expect(host.services.problem == nil && items(host).isEmpty)
    }

    @Test func `pointers say where items, ids and fields are`() async throws {
        service.answer(
            #"{"of": {"list": [{"key": {"no": 7}, "names": [{"en": "Seven"}]}]}, "other": [1]}"#)
        let host = try await host([
            "items": "/of/list", "id": "/key/no", "fields": ["title": "/names/0/en"],
        ])
        #expect(items(host) == ["7": ["title": "Seven"]])
    }

    @Test(arguments: [
        ("[", "line 1, column 2"), (#"{"a": 1}"#, "no array of objects"),
        (#"[{"id": "a"}]"#, "item 1: there is no 'title'"),
        (#"[{"id": "a", "title": "A", "year": "MM"}]"#, "item 1: year: expected a whole number"),
        (#"[{"id": "a", "title": "A"}, {"id": "a", "title": "B"}]"#, "item 2: the id 'a' stands"),
    ])
    func `what can't be read changes nothing, and is told of with its place`(
        body: String, reason: String
    ) async throws {
        let host = try await host()
        #expect(host.services.problem == nil)
        service.answer(body)
        host.reload()
        await host.settle()
        let problem = try #require(host.services.problem)
        #expect(problem.hasPrefix(service.url("/list.json") + ": "), "\(problem)")
        #expect(problem.contains(reason), "\(problem)")
        #expect(items(host).count == 2)
        service.answer(Self.two)
        host.advance(by: .seconds(2))
        await host.settle()
        #expect(host.services.problem == nil)
    }

    @Test func `one that fails is left alone longer each time, and as long as it wants`()
        async throws
    {
        service.answer("", status: 500)
        let host = try await host()
        #expect(host.services.problem?.contains("answers 500") == true)
        #expect(items(host) == [:])
        for _ in 0..<4 {
            host.advance(by: .seconds(1))
            await host.settle()
        }
        // After a second at most, and then two.
        #expect((2...4).contains(service.requests.count))
        service.answer("", status: 503, headers: ["Retry-After": "1000"])
        host.advance(by: .seconds(300))
        await host.settle()
        let asked = service.requests.count
        host.advance(by: .seconds(900))
        await host.settle()
        #expect(service.requests.count == asked)
        service.answer(Self.two)
        host.advance(by: .seconds(101))
        await host.settle()
        #expect(items(host).count == 2 && host.services.problem == nil)
    }

    @Test func `redirects are followed within the service, and nowhere else`() async throws {
        service.answer { request in
            request.target == "/list.json"
                ? .init(status: 302, headers: ["Location": "/there.json"]) : .init(body: Self.two)
        }
        let host = try await host()
        #expect(items(host).count == 2)
        for place in [
            "http://localhost:\(service.port)/", "file:///etc/passwd", "//other.invalid/",
        ] {
            service.answer("", status: 307, headers: ["Location": place])
            host.reload()
            await host.settle()
            #expect(host.services.problem?.contains("another host") == true, "\(place)")
        }
        service.answer("", status: 301, headers: ["Location": "/list.json"])
        host.reload()
        await host.settle()
        #expect(host.services.problem?.contains("5 times") == true)
    }

    @Test func `an answer that takes too long, or is too large, is given up`() async throws {
        let host = try await host(["timeout": 1, "maxMegabytes": 1])
        service.answer { _ in .init(isSilent: true) }
        host.reload()
        await host.settle()
        #expect(host.services.problem?.contains("did not answer in time") == true)
        service.answer(String(repeating: " ", count: 1 << 20) + "[]")
        host.reload()
        await host.settle()
        #expect(host.services.problem?.contains("'maxMegabytes' allows, 1") == true)
        #expect(items(host).count == 2)
    }

    @Test func `a secret goes to the service, and into nothing that is said`() async throws {
        let secret = "Bearer hush"
        let settings: [String: Value] = ["authorization": ["secretFile": "/none"]]
        let host = try await host(settings, secrets: ["authorization": secret + "\n"])
        #expect(service.requests[0].headers["authorization"] == secret)
        service.answer("", status: 401)
        host.reload()
        await host.settle()
        let problem = try #require(host.services.problem)
        #expect(problem.contains("'authorization'") && !problem.contains("hush"))
        #expect(host.services.messages.allSatisfy { !$0.text.contains("hush") })
        let error = #expect(throws: SettingError.self) {
            try MemoryHost(
                Remote.self,
                settings: settings.merging(["url": "http://localhost/"]) { $1 },
                secrets: ["authorization": "hush\nX-More: 1"], fields: Self.fields)
        }
        #expect(error?.setting == "authorization" && error?.reason.contains("hush") == false)
    }
}

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

/// What the settings may say, and how long is waited.
@Suite struct RemoteSettingTests {
    private func reason(_ settings: [String: Value]) -> String {
        do {
            _ = try MemoryHost(
                Remote.self, settings: settings, fields: [Field(name: "title", type: .text)])
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("ftp://example.org/", "expected http:// or https://, found 'ftp'"),
        ("file:///etc/passwd", "expected http:// or https://"),
        ("http://anna:hush@example.org/", "a name or a password does not stand in it"),
        ("example.org", "expected"), ("", "expected"), ("http://", "expected"),
    ])
    func `only URLs of the web are asked`(url: String, expected: String) {
        let reason = reason(["url": .text(url)])
        #expect(reason.contains("'url'") && reason.contains(expected), "\(reason)")
        #expect(!reason.contains("hush"))
    }

    @Test func `settings that make no sense are refused with what would`() {
        let url: Value = "http://127.0.0.1:9/"
        #expect(reason(["url": url, "ask": ["serach": "q"]]).contains("search"))
        #expect(reason(["url": url, "ask": ["search": 1]]).contains("name of a parameter"))
        #expect(reason(["url": url, "items": "list"]).contains("expected a JSON Pointer"))
        #expect(reason(["url": url, "fields": ["none": "a"]]).contains("none"))
        #expect(reason(["url": url, "proxy": "socks5://a"]).contains("http://host:port"))
        #expect(reason(["url": url]) == "")
    }

    @Test func `the time between attempts doubles up to five minutes, and is never the same`() {
        var backOff = BackOff()
        #expect((0..<4).map { _ in backOff.fail(chance: 1) } == [1, 2, 4, 8])
        #expect(backOff.fail(chance: 0) == 8)
        for _ in 0..<100 { _ = backOff.fail(chance: 1) }
        #expect(backOff.fail(chance: 1) == 300)
        #expect(backOff.fail(wanted: 1_000, chance: 0) == 1_000)
        #expect(backOff.fail(wanted: 1e9, chance: 0) == 3_600)
        backOff.succeed()
        #expect(backOff.fail(chance: 1) == 1)
    }

    @Test func `a document conforms, and so does one that is asked for`() async throws {
        let manifest = try Manifest(of: "Remote")
        try await Conformance.run(Remote.self, settings: manifest.conformanceSettings)
        let asked = manifest.conformanceSettings.merging(["ask": ["search": "q"]]) { $1 }
        try await Conformance.run(Remote.self, settings: asked)
    }
}
