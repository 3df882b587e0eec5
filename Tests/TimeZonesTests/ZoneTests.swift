import TestSupport
import Testing

@testable import TimeZones

/// What clocks show, as other programs with the same tzdata have it.
struct ZoneTests {
    @Test func `every zone's clocks show what Python's show`() async throws {
        let names = try await python(
            "import zoneinfo; print(*sorted(zoneinfo.available_timezones()), sep='\\n')"
        ).lines
        try #require(names.count > 300)
        var random = RepeatableRandom(9636)
        var cases: [Case] = []
        var seen: Set<Zone> = []
        for name in names {
            let zone = try ZoneDirectory.system.zone(name)
            // Many have several names.
            let nameless = Zone(name: "", first: zone.first, changes: zone.changes, rule: zone.rule)
            guard seen.insert(nameless).inserted else { continue }
            cases += moments(of: zone, &random).map { moment in
                let offset = zone.offset(at: moment)
                // Around a change some are shown twice, or never.
                let local = moment + offset + Int64.random(in: -2_000...2_000, using: &random)
                return Case(
                    zone: name, moment: moment, offset: offset, local: local,
                    found: zone.moment(showing: local))
            }
        }
        let answers = try await python(
            Self.script, input: cases.map { "\($0.zone) \($0.moment) \($0.local)\n" }.joined()
        ).lines
        try #require(answers.count == cases.count)
        let wrong = zip(cases, answers).filter { "\($0.offset) \($0.found)" != $1 }
        #expect(wrong.isEmpty, "\(wrong.count) of \(cases.count), such as \(wrong.prefix(5))")
    }

    @Test func `in Rome an hour is skipped in March and comes twice in October`() throws {
        let rome = try ZoneDirectory.system.zone("Europe/Rome")
        // 2026-03-29T01:00:00Z: from 2 o'clock to 3.
        let spring: Int64 = 1_774_746_000
        #expect(rome.offset(at: spring - 1) == 3_600)
        #expect(rome.offset(at: spring) == 7_200)
        // 02:30 is never shown; clocks that were not set would show it half an hour later.
        #expect(rome.moment(showing: spring + 3_600 + 1_800) == spring + 1_800)
        // 2026-10-25T01:00:00Z: from 3 o'clock to 2.
        let autumn: Int64 = 1_792_890_000
        #expect(rome.offset(at: autumn - 1) == 7_200)
        #expect(rome.offset(at: autumn) == 3_600)
        // 02:30 is shown half an hour before, and half an hour after.
        #expect(rome.moment(showing: autumn + 3_600 + 1_800) == autumn - 1_800)
        // Days of 23 and of 25 hours.
        let day = CivilDate(year: 2026, month: 3, day: 29).days
        #expect(rome.start(ofDay: day + 1) - rome.start(ofDay: day) == 23 * 3_600)
        let long = CivilDate(year: 2026, month: 10, day: 25).days
        #expect(rome.start(ofDay: long + 1) - rome.start(ofDay: long) == 25 * 3_600)
    }

    @Test func `in Apia there was no 30 December 2011`() throws {
        let apia = try ZoneDirectory.system.zone("Pacific/Apia")
        let missing = CivilDate(year: 2011, month: 12, day: 30).days
        // 2011-12-30T10:00:00Z.
        let midnight: Int64 = 1_325_239_200
        #expect(apia.day(at: midnight - 1) == missing - 1)
        #expect(apia.day(at: midnight) == missing + 1)
        #expect(apia.start(ofDay: missing) == midnight)
        #expect(apia.start(ofDay: missing + 1) == midnight)
    }

    @Test(arguments: [-719_468, -1, 0, 59, 10_956, 11_016, 20_541, 2_932_896] as [Int64])
    func `a day and its date are one`(day: Int64) {
        for day in day - 800...day + 800 { #expect(CivilDate(days: day).days == day) }
    }

    /// What is compared: a moment and what clocks show, and what clocks show and the moment.
    private struct Case {
        var zone: String
        var moment: Int64
        var offset: Int64
        var local: Int64
        var found: Int64
    }

    /// Each change until the year 2043, and some moments in between.
    private func moments(of zone: Zone, _ random: inout RepeatableRandom) -> [Int64] {
        var moments = (0..<40).map { _ in
            Int64.random(in: -4_000_000_000...9_000_000_000, using: &random)
        }
        let earliest: Int64 = -6_000_000_000
        for change in zone.changes where change.moment > earliest {
            moments += [change.moment - 1, change.moment]
        }
        // Those that the rule gives.
        for day in stride(from: Int64(24_000), to: 27_000, by: 45) {
            var (low, high) = (day * 86_400, (day + 45) * 86_400)
            guard zone.offset(at: low) != zone.offset(at: high) else { continue }
            while high - low > 1 {
                let middle = (low + high) / 2
                let isBefore = zone.offset(at: middle) == zone.offset(at: low)
                if isBefore { low = middle } else { high = middle }
            }
            moments += [low, high]
        }
        return moments
    }

    private func python(_ script: String, input: String = "") async throws -> Finished {
        let finished = try await run(["/usr/bin/python3", "-c", script], input: input)
        #expect(finished.status == 0, "\(finished.errors)")
        return finished
    }

    private static let script = """
        import datetime as d, sys, zoneinfo
        start = d.datetime(1970, 1, 1)
        for line in sys.stdin:
            name, moment, local = line.split()
            zone = zoneinfo.ZoneInfo(name)
            at = start.replace(tzinfo=d.timezone.utc) + d.timedelta(seconds=int(moment))
            shown = (start + d.timedelta(seconds=int(local))).replace(tzinfo=zone)
            offset = int(at.astimezone(zone).utcoffset().total_seconds())
            print(offset, int(local) - int(shown.utcoffset().total_seconds()))
        """
}
