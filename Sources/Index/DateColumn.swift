package import AtriumKit
import TimeZones

/// The days, weeks or months of a zone.
package struct DateBucket {
    private let bucket: Field.Bucket
    private let zone: Zone

    /// Creates the bucket of a field of dates; nil if the field has no dates, or its zone can't be read.
    package init?(_ field: Field) {
        guard let derivation = field.derivation,
            let zone = try? ZoneDirectory.system.zone(derivation.zone)
        else { return nil }
        (bucket, self.zone) = (derivation.by, zone)
    }

    /// The date at a moment, as the time that is its midnight in UTC.
    fileprivate func date(at moment: Int64) -> Int64 {
        bucket.firstDay(of: zone.day(at: moment)) * 86_400
    }

    /// The date at a moment.
    package func value(at moment: Int64) -> Value {
        .text(Timestamp(milliseconds: date(at: moment) * 1_000).shortText)
    }

    /// The days of the week that a moment is in, from Monday; and when it ends.
    package func week(at moment: Int64) -> (days: [Value], end: Int64) {
        let monday = Field.Bucket.week.firstDay(of: zone.day(at: moment))
        let days = (0..<7).map { day -> Value in
            .text(Timestamp(milliseconds: (monday + day) * 86_400_000).shortText)
        }
        return (days, max(zone.start(ofDay: monday + 7), moment + 1))
    }

    /// Returns the moment at which the date of a given moment ends.
    package func end(after moment: Int64) -> Int64 {
        let first = bucket.firstDay(of: zone.day(at: moment))
        let next =
            switch bucket {
            case .day: first + 1
            case .week: first + 7
            // 40 days after the first of a month it is the next one.
            case .month: bucket.firstDay(of: first + 40)
            @unknown default: first + 1
            }
        // Somewhere clocks may be set back over midnight.
        return max(zone.start(ofDay: next), moment + 1)
    }
}

/// A column of dates: the value of each row is derived from its value in a column of times.
struct DateColumn {
    /// The number of this column.
    let column: Int
    /// The number of the column with the times.
    let source: Int
    private let bucket: DateBucket

    /// Returns the columns of the date fields among these; one whose zone can't be read has no values.
    static func all(of fields: [Field]) -> [DateColumn] {
        fields.enumerated().compactMap { column, field in
            guard let bucket = DateBucket(field),
                let source = fields.firstIndex(where: { $0.name == field.derivation?.of }),
                fields[source].type == .time
            else { return nil }
            return DateColumn(column: column, source: source, bucket: bucket)
        }
    }

    /// The date that follows from a time, as the time that is its midnight in UTC; NaN from none.
    func date(_ seconds: Double) -> Double {
        // Beyond that there are no years, but a record may say anything.
        guard seconds.magnitude < 1e12 else { return .nan }
        return Double(bucket.date(at: Int64(seconds.rounded(.down))))
    }
}

extension Field.Bucket {
    /// The first day of the bucket that a day is in, both counted from 1970-01-01.
    fileprivate func firstDay(of day: Int64) -> Int64 {
        switch self {
        case .day: day
        // 1970-01-01 was a Thursday.
        case .week: (day + 3).dividedDown(by: 7) * 7 - 3
        case .month: day - CivilDate(days: day).day + 1
        @unknown default: day
        }
    }
}

/// The fields of times that a person may put without an offset.
package struct LocalTimes {
    private let zones: [(field: String, zone: Zone)]

    /// Creates the zones of these fields; a field whose zone can't be read accepts no such times.
    package init(fields: [Field]) {
        zones = fields.compactMap { field in
            guard let name = field.zone, let zone = try? ZoneDirectory.system.zone(name)
            else { return nil }
            return (field.name, zone)
        }
    }

    /// An item whose times all have an offset: one without was read in its field's zone.
    package func complete(_ item: Item) -> Item {
        var item = item
        for (field, zone) in zones {
            guard let text = item.fields[field]?.text, let complete = zone.complete(text)
            else { continue }
            item.fields[field] = .text(complete)
        }
        return item
    }
}

extension Zone {
    /// A time without an offset with that of the zone's clocks then, a date with its first moment; nil for any other
    /// text, which stays as it is.
    fileprivate func complete(_ text: String) -> String? {
        guard !Self.saysOffset(text) else { return nil }
        // Browsers leave out the seconds of 20:15.
        let end = Timestamp.isDate(text) ? "" : text.utf8.count == 16 ? ":00Z" : "Z"
        let utc = text + end
        guard Timestamp.isExact(utc), let shown = Timestamp(utc)?.milliseconds else { return nil }
        let seconds = shown.dividedDown(by: 1_000)
        let moment = moment(showing: seconds)
        let offset = offset(at: moment)
        let milliseconds = moment * 1_000 + shown - seconds * 1_000
        // Clocks were once set by the sun, and a text has no seconds of an offset.
        guard offset % 60 == 0 else { return Timestamp(milliseconds: milliseconds).text }
        let clock = Timestamp(milliseconds: milliseconds + offset * 1_000).text.dropLast()
        let minutes = offset.magnitude / 60
        let parts = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return (clock.hasSuffix(".000") ? clock.dropLast(4) : clock) + (offset < 0 ? "-" : "+")
            + parts.joined(separator: ":")
    }

    /// Whether a text that may be a time ends with `Z` or `+01:00`, as most do.
    private static func saysOffset(_ text: String) -> Bool {
        let end = text.utf8.suffix(6)
        guard text.utf8.count > 16, let first = end.first else { return false }
        return end.last == UInt8(ascii: "Z") || first == UInt8(ascii: "+")
            || first == UInt8(ascii: "-")
    }
}

/// The reasons why fields with time zones don't work.
package enum FieldZones {
    /// The fields whose time zone can't be read, each with why.
    package static func problems(of fields: [Field]) -> [(field: String, reason: String)] {
        fields.compactMap { field in
            guard let name = field.derivation?.zone ?? field.zone else { return nil }
            do throws(ZoneProblem) {
                _ = try ZoneDirectory.system.zone(name)
                return nil
            } catch {
                let hint = error.hint.map { " (\($0))" } ?? ""
                return (field.name, error.description + hint)
            }
        }
    }
}
