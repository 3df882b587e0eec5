import AtriumKit
import AtriumKitTesting
import Testing

@testable import Remote

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
        for proxy in ["socks5://a:hush@b", "http://a:hush@b:3128", "http://hush@b", "a:hush"] {
            let reason = reason(["url": url, "proxy": .text(proxy)])
            #expect(reason.contains("'proxy'") && !reason.contains("hush"), "\(reason)")
        }
        #expect(reason(["url": url, "proxy": "socks5://a"]).contains("http://host:port"))
        #expect(reason(["url": url, "proxy": "http://a:b@c"]).contains("'proxyAuthorization'"))
        #expect(reason(["url": url, "proxy": "http://[::1]:3128"]) == "")
        #expect(reason(["url": url]) == "")
    }

    @Test(arguments: [
        "bad topic !", ">", "mirrors.*", "mirrors.>", "Mirrors", "", "a..b", ".a",
        String(repeating: "a", count: 256),
    ])
    func `what asks again is one topic, and no pattern`(topic: String) {
        let url: Value = "http://127.0.0.1:9/"
        let reason = reason(["url": url, "reloadOn": .text(topic)])
        #expect(reason.contains("'reloadOn'") && reason.contains("expected one topic"), "\(reason)")
        #expect(self.reason(["url": url, "reloadOn": "mirrors.re-fresh.2"]) == "")
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
