/// A time zone: by how much its clocks are ahead of UTC, at any moment.
///
/// It is what a file of tzdata says (RFC 9636): changes at moments, and for those after the last of them a rule
/// that repeats each year. Moments are seconds since 1970-01-01T00:00:00Z; leap seconds are not counted.
package struct Zone: Sendable, Hashable {
    /// A moment at which clocks are changed.
    struct Change: Sendable, Hashable {
        var moment: Int64
        /// By how many seconds clocks are ahead of UTC from then on.
        var offset: Int64
    }

    /// Its name, as in `Europe/Rome`.
    package let name: String
    /// By how many seconds clocks were ahead before the first change.
    let first: Int64
    /// In the order of time.
    let changes: [Change]
    /// What holds after the last change; nil: what that set goes on.
    let rule: ZoneRule?

    /// The zone whose clocks show UTC.
    package static let utc = Zone(name: "UTC", first: 0, changes: [], rule: nil)

    /// By how many seconds clocks are ahead of UTC at a moment.
    package func offset(at moment: Int64) -> Int64 {
        guard let last = changes.last else { return rule?.offset(at: moment) ?? first }
        if moment >= last.moment { return rule?.offset(at: moment) ?? last.offset }
        // The first change that is after the moment.
        var (low, high) = (0, changes.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].moment <= moment { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : changes[low - 1].offset
    }

    /// The moment at which clocks show a time, in seconds from 1970-01-01T00:00:00 as if that were UTC.
    ///
    /// Clocks that are set back show a time twice: it is the first one. Clocks that are set forward skip some: of
    /// these it is the moment at which clocks would show it that were not set. RFC 5545 says so too.
    package func moment(showing local: Int64) -> Int64 {
        // No zone is further from UTC than 26 hours.
        let before = offset(at: local - Self.farthest)
        let after = offset(at: local + Self.farthest)
        if before == after || offset(at: local - before) == before { return local - before }
        return offset(at: local - after) == after ? local - after : local - before
    }

    /// Which day it is at a moment: how many after 1970-01-01.
    package func day(at moment: Int64) -> Int64 {
        (moment + offset(at: moment)).dividedDown(by: 86_400)
    }

    /// The first moment of a day.
    package func start(ofDay day: Int64) -> Int64 { moment(showing: day * 86_400) }

    /// An offset is less than this.
    static let farthest: Int64 = 26 * 3_600
}
