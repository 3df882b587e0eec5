import NIOCore
import Testing

@testable import Host

@Suite struct WriteRatesTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let limits: HostLimits = {
        var limits = HostLimits()
        limits.writesPerMinute = 60
        limits.bytesPerMinute = 6_000
        limits.frontendWritesPerMinute = 100
        limits.frontendBytesPerMinute = 10_000
        return limits
    }()

    private func person(_ number: Int, of frontend: String? = nil) -> Caller {
        Caller(actor: "web:\(number)", pace: frontend.map { .frontend($0) } ?? .person)
    }

    @Test func `a minute's worth may come at once, and then as much as comes back with time`() {
        var rates = WriteRates()
        func write(after seconds: Int64) -> HostError? {
            rates.refusal(
                ofWriting: 1, by: person(1), limits, at: start + .seconds(seconds))
        }
        for _ in 0..<60 { #expect(write(after: 0) == nil) }
        #expect(
            write(after: 0)
                == .limitExceeded(limit: "writesPerMinute", value: 60, retryAfter: 1))
        // Who is refused has not written.
        #expect(write(after: 1) == nil)
        #expect(write(after: 1) != nil)
        for _ in 0..<30 { #expect(write(after: 31) == nil) }
        #expect(write(after: 31) != nil)
        for _ in 0..<60 { #expect(write(after: 1_000) == nil) }
        #expect(write(after: 1_000) != nil)
    }

    @Test func `bytes are paid off after they were written, however many at once`() {
        var rates = WriteRates()
        func write(_ bytes: Int, after seconds: Int64) -> HostError? {
            rates.refusal(
                ofWriting: bytes, by: person(1), limits, at: start + .seconds(seconds))
        }
        #expect(write(9_000, after: 0) == nil)
        #expect(
            write(1, after: 0)
                == .limitExceeded(limit: "bytesPerMinute", value: 6_000, retryAfter: 30))
        #expect(write(1, after: 29) != nil)
        #expect(write(1, after: 30) == nil)
    }

    @Test func `one person's haste is nobody else's, and moderators may do as they like`() {
        var rates = WriteRates()
        func write(_ caller: Caller) -> HostError? {
            rates.refusal(ofWriting: 1, by: caller, limits, at: start)
        }
        for _ in 0..<60 { #expect(write(person(1)) == nil) }
        #expect(write(person(1)) != nil)
        #expect(write(person(2)) == nil)
        let count = rates.count
        for _ in 0..<1_000 { #expect(write(Caller(actor: "unix:0")) == nil) }
        #expect(rates.count == count)
    }

    @Test func `a front end has a bound for all its people, and they have their own`() {
        var rates = WriteRates()
        func write(_ number: Int, _ frontend: String) -> HostError? {
            rates.refusal(ofWriting: 1, by: person(number, of: frontend), limits, at: start)
        }
        for number in 0..<100 { #expect(write(number, "unix:33") == nil) }
        #expect(
            write(101, "unix:33")
                == .limitExceeded(limit: "frontendWritesPerMinute", value: 100, retryAfter: 0.6))
        // What the front end may not has not been counted for the person.
        for _ in 0..<60 { #expect(write(101, "unix:34") == nil) }
        #expect(
            write(101, "unix:34")
                == .limitExceeded(limit: "writesPerMinute", value: 60, retryAfter: 1))
        #expect(write(102, "unix:34") == nil)
    }

    @Test func `however many write, only those are remembered who did so lately`() {
        var rates = WriteRates()
        for number in 0..<300_000 {
            _ = rates.refusal(ofWriting: 1, by: person(number), limits, at: start)
        }
        #expect(rates.count <= 2 << 16)
        for number in 0..<2 {
            _ = rates.refusal(
                ofWriting: 1, by: person(number), limits,
                at: start + .seconds(121 * (Int64(number) + 1)))
        }
        #expect(rates.count <= 2)
    }
}
