import AtriumKit
import Testing

@testable import Host

@Suite struct `Ids of what commands create` {
    @Test func `follow each other in the order of bytes from one millisecond to the next`() {
        var ids = RandomIDs()
        let times: [Int64] = [0, 1, 31, 32, 1_023, 1_024, 1_700_000_000_000, 253_402_300_799_999]
        let made = times.map { ids.next(at: Timestamp(milliseconds: $0)) }
        for (one, next) in zip(made, made.dropFirst()) {
            #expect(one.utf8.lexicographicallyPrecedes(next.utf8))
        }
        #expect(made.allSatisfy { $0.utf8.count == 26 })
        // The time in the example of the specification of ULIDs.
        let example = ids.next(at: Timestamp(milliseconds: 1_469_922_850_259))
        #expect(example.hasPrefix("01arz3ndek"))
    }

    @Test func `differ within a millisecond`() {
        var ids = RandomIDs()
        let made = (0..<1_000).map { _ in ids.next(at: Timestamp(milliseconds: 1)) }
        #expect(Set(made).count == 1_000)
        #expect(made.allSatisfy { $0.hasPrefix("0000000001") })
    }

    @Test func `are random as a whole where they must not be guessed`() {
        var ids = RandomIDs()
        let made = (0..<1_000).map { _ in ids.next() }
        #expect(Set(made.map { $0.prefix(4) }).count > 900)
    }
}
