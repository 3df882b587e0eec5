import Testing

@testable import Workers

@Suite struct `Calls that a worker has not answered` {
    private let start = ContinuousClock.now

    @Test func `a call's time begins when the one before it was answered`() {
        var calls = PendingCalls()
        let first = calls.add("first", limit: .seconds(30), at: start) { _ in }
        let second = calls.add("second", limit: .seconds(30), at: start) { _ in }
        #expect(calls.overdue(at: start + .seconds(29)) == nil)
        #expect(
            calls.overdue(at: start + .seconds(31))
                == .init(name: "first", elapsed: .seconds(31), limit: .seconds(30)))
        #expect(calls.answered(first, at: start + .seconds(29)) != nil)
        #expect(calls.overdue(at: start + .seconds(31)) == nil)
        #expect(calls.deadline == start + .seconds(59))
        #expect(calls.overdue(at: start + .seconds(59))?.name == "second")
        #expect(calls.answered(second, at: start + .seconds(60)) != nil)
        #expect(calls.deadline == nil)
    }

    @Test func `time in which nothing was asked does not count`() {
        var calls = PendingCalls()
        let first = calls.add("first", limit: .seconds(30), at: start) { _ in }
        #expect(calls.answered(first, at: start) != nil)
        _ = calls.add("second", limit: .seconds(30), at: start + .seconds(100)) { _ in }
        #expect(calls.overdue(at: start + .seconds(101)) == nil)
    }

    @Test func `time in which nothing was read does not count, up to a call's own`() {
        var calls = PendingCalls()
        let first = calls.add("first", limit: .seconds(30), at: start) { _ in }
        // What was before the call is no excuse.
        calls.wasPaused(from: start - .seconds(20), to: start + .seconds(10))
        #expect(calls.deadline == start + .seconds(40))
        #expect(calls.overdue(at: start + .seconds(39)) == nil)
        calls.wasPaused(from: start + .seconds(10), to: start + .seconds(60))
        #expect(calls.overdue(at: start + .seconds(59)) == nil)
        #expect(
            calls.overdue(at: start + .seconds(60))
                == .init(name: "first", elapsed: .seconds(60), limit: .seconds(30)))
        _ = calls.add("second", limit: .seconds(30), at: start) { _ in }
        #expect(calls.answered(first, at: start + .seconds(60)) != nil)
        #expect(calls.deadline == start + .seconds(90))
    }

    @Test func `an answer out of turn is not taken`() {
        var calls = PendingCalls()
        let first = calls.add("first", limit: .seconds(30), at: start) { _ in }
        let second = calls.add("second", limit: .seconds(30), at: start) { _ in }
        #expect(calls.answered(second, at: start) == nil)
        #expect(calls.answered(first, at: start)?.call.name == "first")
        #expect(calls.answered(first, at: start) == nil)
        calls.removeAll()
        #expect(calls.isEmpty)
    }
}
