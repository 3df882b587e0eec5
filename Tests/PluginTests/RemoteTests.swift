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

    @Test func `a byte order mark before the document counts for nothing`() async throws {
        service.answer("\u{FEFF}" + Self.two)
        let host = try await host()
        #expect(host.services.problem == nil)
        #expect(items(host).count == 2)
    }

    @Test(arguments: [
        (JSONService.Answer(body: "SSH-2.0-OpenSSH_9.2\r\n", isBare: true), "HTTP/0.9"),
        (
            JSONService.Answer(headers: ["Content-Encoding": "gzip"], body: "plain"),
            "content unencoding"
        ),
        (JSONService.Answer(body: "[\0]\0"), "it is UTF-16LE, and JSON is UTF-8"),
    ])
    func `what is no answer in HTTP or JSON is named as that`(
        answer: JSONService.Answer, reason: String
    ) async throws {
        service.answer { _ in answer }
        let host = try await host()
        #expect(host.services.problem?.contains(reason) == true, "\(host.services.problem ?? "")")
    }

    @Test func `pointers say where items, ids and fields are`() async throws {
        service.answer(
            #"{"of": {"list": [{"key": {"no": 7}, "names": [{"en": "Seven"}]}]}, "other": [1]}"#)
        let host = try await host([
            "items": "/of/list", "id": "/key/no", "fields": ["title": "/names/0/en"],
        ])
        #expect(items(host) == ["7": ["title": "Seven"]])
    }

    @Test func `ids and texts keep the digits of whole numbers, however many`() async throws {
        service.answer(#"[{"id": 12345678901234567890, "title": 12345678901234567891}]"#)
        let host = try await host()
        #expect(host.services.problem == nil)
        #expect(items(host) == ["12345678901234567890": ["title": "12345678901234567891"]])
    }

    @Test(arguments: [
        ("[", "line 1, column 2"), (#"{"a": 1}"#, "no array of objects"),
        (#"[{"id": "a"}]"#, "item 1: there is no 'title'"),
        (#"[{"id": "a", "title": "A", "year": "MM"}]"#, "item 1: year: expected a whole number"),
        (
            #"[{"id": "a", "title": "A", "year": 12345678901234567890}]"#,
            "item 1: year: expected a whole number from -9007199254740992 to 9007199254740992, "
                + "found '12345678901234567890'"
        ),
        (#"[{"id": "a", "title": "A"}, {"id": "a", "title": "B"}]"#, "item 2: the id 'a' stands"),
    ])
    func `what can't be read changes nothing, and is reported with its place`(
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
        for (place, reason) in [
            (
                "http://localhost:\(service.port)/of/anna",
                "a redirect to http://localhost:\(service.port), on another host"
            ), ("//other.invalid/", "a redirect to http://other.invalid, on another host"),
            ("http://127.0.0.1:9/", "a redirect to http://127.0.0.1:9, on another port"),
            ("https://127.0.0.1/", "a redirect to https://127.0.0.1, on another port"),
            ("file:///etc/passwd", "a redirect to a URL that is not allowed"),
            ("http://anna:hush@127.0.0.1/", "a redirect to a URL that is not allowed"),
        ] {
            service.answer("", status: 307, headers: ["Location": place])
            host.reload()
            await host.settle()
            let problem = try #require(host.services.problem)
            #expect(problem.contains(reason), "\(place): \(problem)")
            #expect(!problem.contains("anna") && !problem.contains("hush"))
        }
        service.answer("", status: 302)
        host.reload()
        await host.settle()
        #expect(host.services.problem?.contains("a redirect without 'Location'") == true)
        service.answer("", status: 301, headers: ["Location": "/list.json"])
        host.reload()
        await host.settle()
        #expect(host.services.problem?.contains("5 times") == true)
    }

    @Test func `all redirects together take no longer than one answer may`() async throws {
        let host = try await host(["timeout": 1])
        // Each takes most of the time, and none all of it.
        service.answer { _ in
            Foundation.Thread.sleep(forTimeInterval: 0.4)
            return .init(status: 302, headers: ["Location": "/list.json"])
        }
        host.reload()
        await host.settle()
        #expect(host.services.problem?.contains("did not answer in time") == true)
        // One more may have been asked that was given up.
        #expect((3...5).contains(service.requests.count), "\(service.requests.count)")
    }

    @Test func `until when a service wants to be left alone may be a time`() async throws {
        let host = try await host()
        service.answer(
            "", status: 503,
            headers: [
                "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
                "Retry-After": "Wed, 21 Oct 2015 07:38:20 GMT",
            ])
        host.reload()
        await host.settle()
        let asked = service.requests.count
        service.answer(Self.two)
        host.advance(by: .seconds(619))
        await host.settle()
        #expect(service.requests.count == asked)
        host.advance(by: .seconds(2))
        await host.settle()
        #expect(service.requests.count == asked + 1 && host.services.problem == nil)
        func pause(_ headers: [String: String]) -> Double? {
            HTTPResponse(status: 503, headers: headers).wantedPause
        }
        #expect(pause([:]) == nil && pause(["retry-after": "soon"]) == nil)
        #expect(pause(["retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"]) == 0, "that is over")
        #expect((pause(["retry-after": "Fri, 31 Dec 2100 23:59:59 GMT"]) ?? 0) > 1e9)
    }

    @Test func `a proxy has a secret of its own, and the service's stays from it`() async throws {
        let host = try MemoryHost(
            Remote.self,
            settings: [
                "url": "http://service.invalid/list.json", "proxy": .text(service.url("")),
                "proxyAuthorization": ["secretFile": "/none"],
            ], secrets: ["proxyAuthorization": "Basic hush"], fields: Self.fields)
        await host.settle()
        #expect(items(host).count == 2)
        #expect(service.requests[0].headers["proxy-authorization"] == "Basic hush")
        #expect(service.requests[0].headers["authorization"] == nil)
        service.answer("", status: 407)
        host.reload()
        await host.settle()
        let problem = try #require(host.services.problem)
        #expect(problem.contains("'proxyAuthorization'") && !problem.contains("hush"))
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
