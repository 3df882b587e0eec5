import AtriumKit
import Host
import Testing

@testable import Workers

/// Words of a worker that go on to the log, a status or a client.
@Suite struct `Texts of a worker are cut` {
    private let long = String(repeating: "long ", count: 1_000_000)

    @Test func `a refusal's`() {
        var refusal = Refusal(.itemNotFound, long, retryAfter: 2, evidence: ["item": "heat"])
        let short = refusal.cut
        #expect(short.reason == String(long.prefix(2_000)))
        #expect(short.code == .itemNotFound)
        #expect(short.retryAfter == 2)
        #expect(short.evidence == ["item": "heat"])
        for number in 0..<100 { refusal.evidence["\(number)"] = long }
        #expect(refusal.cut.evidence.count == 16)
        #expect(refusal.cut.evidence.values.allSatisfy { $0.utf8.count <= 65_536 })
    }

    @Test func `a failed start's`() {
        #expect(LaunchFailure.failed(reason: long).cut.description.utf8.count == 2_000)
        #expect(LaunchFailure.unavailable(reason: long).cut.description.utf8.count == 2_000)
        let setting = LaunchFailure.setting(SettingError(long, long)).cut
        #expect(setting.description.utf8.count < 5_000)
        #expect(LaunchFailure.failed(reason: "No.").cut == .failed(reason: "No."))
    }
}
