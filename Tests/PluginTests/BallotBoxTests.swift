import AtriumKit
import Testing

@Suite struct `A ballot box` {
    private func ballot(
        _ value: Double, by actor: Int64, on subject: Subject = .item("a")
    ) -> Ballot {
        Ballot(
            subject: subject, actor: ActorID(actor), value: value,
            cast: Timestamp(milliseconds: actor))
    }

    @Test func `says what each change did`() {
        var box = BallotBox()
        let (first, second) = (ballot(2, by: 1), ballot(3, by: 1))
        let turn = { (previous: Ballot?, ballot: Ballot?) in
            BallotBox.Turn(
                subject: .item("a"), actor: ActorID(1), previous: previous, ballot: ballot)
        }
        let removal = Change.removed(key: second.record.key)
        let found = [first.record, first.record, second.record, removal, removal].map {
            box.apply($0)
        }
        // Applied twice is applied once.
        #expect(found == [turn(nil, first), nil, turn(first, second), turn(second, nil), nil])
        #expect(Array(box.subjects).isEmpty)
    }

    @Test func `counts the ballots that are there, in whatever order they came`() {
        let ballots = [ballot(2, by: 1), ballot(2, by: 2), ballot(4.5, by: 3)]
        for order in [ballots, ballots.reversed()] {
            var box = BallotBox()
            for ballot in order { box.apply(ballot.record) }
            #expect(
                box.tally(of: .item("a"), score: 1)
                    == Tally(count: 3, score: 1, histogram: ["2": 2, "4.5": 1]))
            #expect(box.sum(of: .item("a")) == 8.5)
        }
        let empty = BallotBox()
        #expect(empty.tally(of: .container, score: 1) == Tally())
        #expect(empty.sum(of: .container) == nil && empty.count(of: .container) == 0)
    }

    @Test func `gives ballots in pages, by actor`() {
        var box = BallotBox()
        for actor in [5, 3, 1, 4] as [Int64] { box.apply(ballot(1, by: actor).record) }
        let page = { (after: Int64?, limit: Int) in
            box.ballots(on: .item("a"), after: after.map { ActorID($0) }, limit: limit)
                .map(\.actor.number)
        }
        #expect(page(nil, 2) == [1, 3])
        #expect(page(3, 9) == [4, 5])
        box.apply(ballot(1, by: 2).record)
        box.apply(.removed(key: ballot(1, by: 4).record.key))
        #expect(page(nil, 9) == [1, 2, 3, 5])
        #expect(page(2, 1) == [3] && page(9, 9) == [] && page(nil, 0) == [])
        #expect(box.ballot(of: ActorID(2), on: .item("a")) == ballot(1, by: 2))
        #expect(
            box.recordKeys(about: .item("a")).sorted() == ["a\n1", "a\n2", "a\n3", "a\n5"])
    }

    @Test func `gives the same pages where there are so many that they are kept in order`() {
        var box = BallotBox()
        // In no order, and some of them retracted.
        let actors = (0..<9_000).map { Int64($0 * 7_919 % 9_001) }
        for actor in actors { box.apply(ballot(1, by: actor).record) }
        for actor in actors where actor % 5 == 0 {
            box.apply(.removed(key: ballot(1, by: actor).record.key))
        }
        var found: [Int64] = []
        while true {
            let page = box.ballots(
                on: .item("a"), after: found.last.map { ActorID($0) }, limit: 500)
            found += page.map(\.actor.number)
            if page.count < 500 { break }
        }
        #expect(found == actors.filter { $0 % 5 != 0 }.sorted())
    }

    @Test func `counts nothing that is no ballot, or is not taken`() {
        var box = BallotBox()
        let none = box.apply(.put(key: "no ballot's", value: 1))
        #expect(none == nil)
        box.apply(ballot(2, by: 1).record)
        let turn = box.apply(.put(key: "a\n1", value: ["value": "two"]))
        #expect(turn?.ballot == nil && turn?.previous == ballot(2, by: 1))
        box.apply(ballot(2, by: 1).record)
        box.apply(ballot(9, by: 1).record) { $0.value < 5 }
        #expect(box.count(of: .item("a")) == 0)
    }
}
