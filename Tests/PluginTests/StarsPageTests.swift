import Testing

import struct AtriumKit.ActorID
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

    @Test func `many voters are kept in order before anybody asks, so that no page sorts them`() {
        let actors = (0..<9_000).map { Int64($0 * 7_919 % 9_001) }
        var box = box(of: actors)
        #expect(box.ordered?.count == 9_000)
        for actor in actors where actor % 5 == 0 { _ = box.replace(nil, of: ActorID(actor)) }
        let left = actors.filter { $0 % 5 != 0 }
        #expect(box.ordered?.count == left.count)
        #expect(voters(box, page: 500) == left.sorted())
    }

    @Test func `few are sorted when somebody asks, and a restore does not pay for it`() {
        let actors = (0..<1_000).map { Int64($0 * 7_919 % 9_001) }
        let box = box(of: actors)
        #expect(box.ordered == nil)
        #expect(voters(box, page: 7) == actors.sorted())
    }
}
