import TestSupport
import Testing

import struct AtriumKit.ActorID
import struct AtriumKit.Settings
import struct AtriumKit.Tally
import struct AtriumKit.Timestamp

@testable import Stars

/// The voters of a subject, in pages.
@Suite struct StarsPageTests {
    private func box(of actors: some Sequence<Int64>) -> BallotBox {
        var box = BallotBox()
        for actor in actors {
            let vote = Vote(units: 1, cast: Timestamp(milliseconds: actor))
            _ = box.replace(vote, of: ActorID(actor))
        }
        return box
    }

    private func voters(_ box: BallotBox, page: Int) -> [Int64] {
        var found: [Int64] = []
        while true {
            let next = box.page(after: found.last.map { ActorID($0) }, limit: page)
            found += next.map(\.actor.number)
            if next.count < page { return found }
        }
    }

    @Test(arguments: [1, 7, 512, 513, 9_000])
    func `voters come in order, however many they are and in whatever order they came`(
        count: Int
    ) {
        let actors = (0..<count).map { Int64($0 * 7_919 % 9_001) }
        var box = box(of: actors)
        #expect(voters(box, page: 500) == actors.sorted())
        for actor in actors where actor % 5 == 0 { _ = box.replace(nil, of: ActorID(actor)) }
        let left = actors.filter { $0 % 5 != 0 }
        #expect(voters(box, page: 7) == left.sorted())
        #expect(Array(box.actors).map(\.number) == left.sorted())
        for actor in actors {
            let vote = box[ActorID(actor)]
            #expect(vote?.cast == (actor % 5 == 0 ? nil : Timestamp(milliseconds: actor)))
        }
    }

    @Test(arguments: [100, 10_000], [usualTimes, times])
    func `random votes are what a dictionary says`(
        most: Int, times: ClosedRange<Int64>
    ) throws {
        let scale = try Scale(Settings(["scale": 100, "step": 0.01], declared: Stars.settings))
        var random = RepeatableRandom(5)
        var box = BallotBox()
        var known: [Int64: Vote] = [:]
        for step in 0..<20_000 {
            let actor = Int64.random(in: 0..<1_500, using: &random) << 40
            let vote =
                Int.random(in: 0..<4, using: &random) == 0
                ? nil
                : Vote(
                    units: Int.random(in: 1...most, using: &random),
                    cast: Timestamp(milliseconds: .random(in: times, using: &random)))
            let isOther = box.replace(vote, of: ActorID(actor))
            #expect(isOther == (known[actor]?.units != vote?.units), "step \(step)")
            known[actor] = vote
        }
        #expect(voters(box, page: 100) == known.keys.sorted())
        #expect(known.allSatisfy { box[ActorID($0.key)] == $0.value })
        let tally = box.tally(on: scale)
        let units = Dictionary(grouping: known.values, by: \.units).mapValues(\.count)
        #expect(tally.count == known.count && tally.histogram.count == units.count)
        let sum = known.values.reduce(0) { $0 + $1.units }
        #expect(tally.score == Double(sum) / Double(100 * known.count))
        for actor in known.keys { _ = box.replace(nil, of: ActorID(actor)) }
        #expect(box.isEmpty && box.tally(on: scale) == Tally())
    }

    /// Those that a record may have: from 1970 to 9999.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799_999
    /// From 2000 to 2069.
    private static let usualTimes: ClosedRange<Int64> = 946_684_800_000...3_145_708_055_551

    @Test(
        arguments: [
            0, 1, 253_402_300_799_999, usualTimes.lowerBound - 1, usualTimes.lowerBound,
            usualTimes.upperBound, usualTimes.upperBound + 1,
        ], [1, 127, 128, 10_000])
    func `a vote keeps its time and its value beside votes of any others`(
        time: Int64, units: Int
    ) {
        var box = BallotBox()
        var known: [Int64: Vote] = [:]
        let usual = Vote(units: 1, cast: Timestamp(milliseconds: 1_700_000_000_000))
        let vote = Vote(units: units, cast: Timestamp(milliseconds: time))
        for actor in [.min, -1, 0, 1 << 32, .max] as [Int64] {
            for (actor, vote) in [(actor, usual), (actor ^ 1, vote)] {
                _ = box.replace(vote, of: ActorID(actor))
                known[actor] = vote
            }
        }
        #expect(known.allSatisfy { box[ActorID($0.key)] == $0.value })
        #expect(voters(box, page: 3) == known.keys.sorted())
    }

    @Test func `a vote takes 14 bytes, and a subject two references`() {
        #expect(MemoryLayout<ShortVote>.stride == 14)
        #expect(MemoryLayout<BallotBox>.size == 16)
    }
}
