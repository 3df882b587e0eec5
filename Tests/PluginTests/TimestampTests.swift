import AtriumKit
import Foundation
import Testing

@Suite struct `Timestamps` {
    @Test(arguments: [
        "1970-01-01T00:00:00Z", "2026-01-31T20:15:00Z", "2024-02-29T23:59:59Z",
        "1600-02-29T12:00:00Z", "1582-10-16T00:00:00Z", "9999-12-31T23:59:59Z",
        "2026-01-31T20:15:00+05:30", "1900-03-01T00:00:00-08:00", "1583-01-01T00:00:00Z",
    ])
    func `are read as Foundation reads them`(text: String) throws {
        let date = try Date.ISO8601FormatStyle().parse(text)
        #expect(
            Timestamp(text)?.milliseconds == Int64(date.timeIntervalSince1970.rounded()) * 1000)
    }

    @Test func `have milliseconds, and dates are their first moment`() {
        #expect(Timestamp("1970-01-01T00:00:00.25Z")?.milliseconds == 250)
        #expect(Timestamp("1970-01-01T00:00:00.123456Z")?.milliseconds == 123)
        #expect(Timestamp("1970-01-02")?.milliseconds == 86_400_000)
        // Foundation follows the Julian calendar before 1582; RFC 3339 does not.
        #expect(Timestamp("0400-01-01")?.milliseconds == -49_544_438_400_000)
        #expect(Timestamp("1969-12-31T23:59:59.5Z")?.milliseconds == -500)
    }

    @Test(arguments: [
        "", "2026", "2026-1-31", "2026-02-29", "2026-13-01", "2026-01-31T", "2026-01-31T20:15Z",
        "2026-01-31T24:00:00Z", "2026-01-31T20:15:00", "2026-01-31T20:15:00.Z",
        "2026-01-31T20:15:00+1", "2026-01-31T20:15:00Z ", "２026-01-31", "yesterday",
    ])
    func `are nothing else`(text: String) {
        #expect(Timestamp(text) == nil)
    }
}
