import AtriumKit
import Host
import JSONCodec
import Testing

@testable import Workers

/// A component's state on its way out of a worker.
@Suite struct `State comes out of a worker in parts` {
    /// All parts, each of which is a message of moderate size, put together.
    private func told(_ events: [ComponentEvent], atMost bytes: Int) throws -> LoadedState {
        var rest = events[...]
        var parts = EventParts(of: .message) { rest.popFirst().map { [$0] } }
        var state = LoadedState()
        while true {
            let part = parts.next()
            let answer = WorkerAnswer.restored(part, isLast: parts.isOver)
            let size = Wire.encode(answer).bytes.count
            #expect(size <= bytes, "a message of \(size) bytes")
            state.append(part)
            if parts.isOver { return state }
        }
    }

    @Test func `items`() throws {
        let text = String(repeating: "long ", count: 100)
        let items = (0..<5_000).map {
            Item(id: "item \($0)", fields: ["text": .text(text), "number": .int(Int64($0))])
        }
        let events = [ComponentEvent.contents(.replaceAll), .contents(.insert(items))]
        #expect(
            Wire.encode(WorkerAnswer.restored(events, isLast: true)).bytes.count > 2 << 20)
        let state = try told(events, atMost: 400 << 10)
        #expect(state.items?.elementsEqual(items) == true)
        #expect(state.whole == events)
    }

    @Test func `tallies and counts`() throws {
        let events = (0..<20_000).map { number -> ComponentEvent in
            let subject = Subject(item: "item \(number)")
            return number % 2 == 0
                ? .tally(subject, Tally(count: 1, score: 4, histogram: ["4": 1]))
                : .commentCount(subject, number)
        }
        let state = try told(events, atMost: 400 << 10)
        #expect(state.items == nil)
        #expect(Array(state.events.joined()) == events)
        #expect(state.events.count > 4)
    }

    @Test func `what never ends is too much, however little a part has`() {
        var budget = StateBudget()
        let most = StateBudget.most / StateBudget.part
        for _ in 0..<most { #expect(budget.charge(0) == nil) }
        #expect(
            budget.charge(0)
                == "1074003968 bytes of state so far, where 1073741824 are allowed")
    }

    @Test func `an item that is bigger than a part comes alone, and nothing is sent as nothing`()
        throws
    {
        let big = Item(id: "b", fields: ["text": .text(String(repeating: "x", count: 600 << 10))])
        let small = Item(id: "a", fields: [:])
        let events = [
            ComponentEvent.contents(.replaceAll), .contents(.insert([small, big, small])),
        ]
        #expect(try told(events, atMost: 700 << 10).items?.count == 3)
        #expect(try told([.contents(.replaceAll)], atMost: 200).items?.isEmpty == true)
        #expect(try told([], atMost: 100).whole == [])
    }

    @Test func `from a real worker, part by part`() async throws {
        let component = Installed.component(of: Installed.stars)
        try await component.start()
        let ballots = (0..<4_000).map { number in
            Ballot(
                subject: Subject(item: "item \(number)"), actor: ActorID(1), value: 4,
                cast: Timestamp(milliseconds: 0)
            ).record
        }
        let events = try await component.restore(ballots)
        #expect(events.count == 4_000)
        await component.stop()
    }
}
