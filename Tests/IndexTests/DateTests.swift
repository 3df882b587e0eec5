import AtriumKit
import Testing

@testable import Index

/// Dates that follow from times, and times that are put without an offset.
struct DateTests {
    private static let fields =
        [Field(name: "start", type: .time)]
        + Field.Bucket.allCases.map {
            Field(name: $0.rawValue, of: "start", by: $0, zone: "Europe/Rome")
        }

    private func dates(_ start: String) throws -> [String] {
        let index = ContentIndex(fields: Self.fields)
        index.put([Item(id: "a", fields: ["start": .text(start)])], revision: 1)
        return Field.Bucket.allCases.flatMap { index.values.distinct(of: $0.rawValue) }
            .compactMap(\.text)
    }

    @Test(arguments: [
        // The last and the first minute of a day, before and after clocks change.
        ("2026-03-28T22:59:00Z", ["2026-03-28", "2026-03-23", "2026-03-01"]),
        ("2026-03-28T23:00:00Z", ["2026-03-29", "2026-03-23", "2026-03-01"]),
        ("2026-03-29T21:59:00Z", ["2026-03-29", "2026-03-23", "2026-03-01"]),
        ("2026-03-29T22:00:00Z", ["2026-03-30", "2026-03-30", "2026-03-01"]),
        ("2026-03-31T22:00:00Z", ["2026-04-01", "2026-03-30", "2026-04-01"]),
        ("2026-10-25T22:59:00Z", ["2026-10-25", "2026-10-19", "2026-10-01"]),
        ("2026-10-25T23:00:00Z", ["2026-10-26", "2026-10-26", "2026-10-01"]),
        ("1969-12-31T23:00:00Z", ["1970-01-01", "1969-12-29", "1970-01-01"]),
        ("2026-12-31T23:59:59.999+01:00", ["2026-12-31", "2026-12-28", "2026-12-01"]),
    ])
    func `a date is the first of its day, week or month in the zone`(
        start: String, expected: [String]
    ) throws {
        #expect(try dates(start) == expected)
    }

    @Test(arguments: [
        // Days of 23 and of 25 hours; the last month of a year; a day that was skipped.
        ("Europe/Rome", Field.Bucket.day, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("Europe/Rome", .day, "2026-10-25T12:00:00Z", "2026-10-25T23:00:00Z"),
        ("Europe/Rome", .week, "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z"),
        ("Europe/Rome", .month, "2026-03-31T21:59:59Z", "2026-03-31T22:00:00Z"),
        ("UTC", .month, "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("UTC", .month, "2027-01-31T23:59:59Z", "2027-02-01T00:00:00Z"),
        ("Pacific/Apia", .day, "2011-12-29T11:00:00Z", "2011-12-30T10:00:00Z"),
    ])
    func `a date ends when clocks show the next one`(
        zone: String, by: Field.Bucket, moment: String, end: String
    ) throws {
        let bucket = try #require(
            DateBucket(Field(name: "day", of: "start", by: by, zone: zone)))
        let seconds = try #require(TimeText.seconds(moment).map { Int64($0) })
        let found = bucket.end(after: seconds)
        #expect(Timestamp(milliseconds: found * 1_000).text == end.replacing("Z", with: ".000Z"))
        #expect(bucket.value(at: found - 1) == bucket.value(at: seconds))
        #expect(bucket.value(at: found) != bucket.value(at: seconds))
    }

    @Test func `an item that changes has the date of its new time`() throws {
        let index = ContentIndex(fields: Self.fields)
        for (revision, start) in ["2026-03-28", "2026-03-29", nil, "2026-05-01"].enumerated() {
            let fields = start.map { ["start": Value.text($0)] } ?? [:]
            index.put([Item(id: "a", fields: fields)], revision: Int64(revision))
            let found = index.values.distinct(of: "day").compactMap(\.text)
            #expect(found == (start.map { [$0] } ?? []))
            #expect(IndexCheck.isIndexed("a", fields, in: index))
        }
        #expect(!IndexCheck.isIndexed("a", ["start": "2026-05-02"], in: index))
        #expect(index.item("a")?.fields == Array(#"{"start":"2026-05-01"}"#.utf8))
    }

    @Test func `a date has no value where its zone is not there`() throws {
        let field = Field(name: "day", of: "start", by: .day, zone: "Europe/Nowhere")
        let index = ContentIndex(fields: [Field(name: "start", type: .time), field])
        index.put([Item(id: "a", fields: ["start": "2026-05-01"])], revision: 1)
        #expect(index.values.distinct(of: "day").isEmpty)
        let problem = try #require(FieldZones.problems(of: [field]).first)
        #expect(problem.field == "day" && problem.reason.contains("'Europe/Nowhere'"))
    }

    @Test(arguments: [
        ("2026-01-31T20:15:00", "2026-01-31T20:15:00+01:00"),
        ("2026-01-31T20:15", "2026-01-31T20:15:00+01:00"),
        ("2026-07-31T20:15:00.250", "2026-07-31T20:15:00.250+02:00"),
        ("2026-07-31", "2026-07-31T00:00:00+02:00"),
        // Skipped: as clocks would show it that were not set. Shown twice: the first time.
        ("2026-03-29T02:30:00", "2026-03-29T03:30:00+02:00"),
        ("2026-10-25T02:30:00", "2026-10-25T02:30:00+02:00"),
        ("2026-10-25T03:00:00", "2026-10-25T03:00:00+01:00"),
        // By the sun, 49 minutes and 56 seconds ahead.
        ("1850-01-01T12:00:00", "1850-01-01T11:10:04.000Z"),
        // What has an offset keeps it, and what is no time is refused later.
        ("2026-01-31T20:15:00Z", "2026-01-31T20:15:00Z"),
        ("2026-01-31T20:15:00-05:00", "2026-01-31T20:15:00-05:00"),
        ("2026-02-30", "2026-02-30"), ("2026-01-31T20:15:00.12345", "2026-01-31T20:15:00.12345"),
        ("now", "now"), ("", ""),
    ])
    func `a time without an offset is read in its field's zone`(
        written: String, expected: String
    ) {
        var field = Field(name: "start", type: .time)
        field.zone = "Europe/Rome"
        let times = LocalTimes(fields: [field, Field(name: "end", type: .time)])
        let item = Item(id: "a", fields: ["start": .text(written), "end": .text(written)])
        let complete = times.complete(item)
        #expect(complete.fields == ["start": .text(expected), "end": .text(written)])
        #expect(times.complete(complete) == complete)
    }

    @Test func `a day that a zone skipped is the next one`() {
        var field = Field(name: "start", type: .time)
        field.zone = "Pacific/Apia"
        let item = Item(id: "a", fields: ["start": "2011-12-30"])
        let complete = LocalTimes(fields: [field]).complete(item)
        #expect(complete.fields["start"] == "2011-12-31T00:00:00+14:00")
    }
}
