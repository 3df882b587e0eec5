import Store
import Testing

@testable import Host

/// What a lane says, in words that can be compared.
private enum Said: Equatable, CustomStringConvertible {
    case committed(String, Int64)
    case unchanged(String)
    case failed(String)
    case undo(Set<String>)
    case opened

    var description: String {
        switch self {
        case .committed(let name, let sequence): "committed \(name) at \(sequence)"
        case .unchanged(let name): "unchanged \(name)"
        case .failed(let name): "failed \(name)"
        case .undo(let keys): "undo \(keys.sorted())"
        case .opened: "opened"
        }
    }

    init(_ step: LaneState<String>.Step) {
        self =
            switch step {
            case .committed(let name, let commit): .committed(name, commit.sequence)
            case .unchanged(let name): .unchanged(name)
            case .failed(let name, _): .failed(name)
            case .undo(let keys): .undo(Set(keys.map(\.key)))
            case .opened: .opened
            }
    }
}

extension LaneState<String> {
    fileprivate mutating func begins(_ id: ID, on component: String = "stars") {
        begin(id, on: component)
    }

    /// Decides to write a record of the operation's name.
    fileprivate mutating func writes(
        _ id: ID, _ name: String, component: String = "stars"
    ) -> Verdict {
        write(id, keys: [RecordKey(container: "c", component: component, key: name)], name)
    }

    fileprivate mutating func commits(_ id: ID, at sequence: Int64) -> [Said] {
        complete(id, .success(Commit(sequence: sequence, position: sequence))).map(Said.init)
    }

    fileprivate mutating func fails(_ id: ID) -> [Said] {
        complete(id, .failure(.storage(reason: "test"))).map(Said.init)
    }
}

@Suite struct LaneTests {
    @Test func `a component is quiet again once what it decided is on disk`() {
        var lane = LaneState<String>()
        #expect(lane.isQuiet("stars"))
        lane.begins(1)
        #expect(!lane.isQuiet("stars"))
        #expect(lane.isQuiet("talk"))
        guard case .append(epoch: 0, _) = lane.writes(1, "a") else { return #expect(Bool(false)) }
        #expect(!lane.isQuiet("stars"))
        #expect(lane.commits(1, at: 7) == [.committed("a", 7)])
        #expect(lane.isQuiet("stars"))
        #expect(lane.isEmpty)
    }

    @Test func `an answer that rests on earlier entries waits until they are on disk`() {
        var lane = LaneState<String>()
        lane.begins(1)
        _ = lane.writes(1, "a")
        lane.begins(2)
        #expect(lane.finish(2, "same").isEmpty)
        lane.begins(3)
        _ = lane.writes(3, "b")
        lane.begins(4, on: "talk")
        #expect(lane.finish(4, "other").map(Said.init) == [.unchanged("other")])
        #expect(lane.commits(1, at: 1) == [.committed("a", 1), .unchanged("same")])
        #expect(!lane.isQuiet("stars"))
        #expect(lane.commits(3, at: 2) == [.committed("b", 2)])
    }

    @Test func `a failed entry takes all of its epoch with it, written or not`() {
        var lane = LaneState<String>()
        for id in 1...3 as ClosedRange<UInt64> { lane.begins(id) }
        _ = lane.writes(1, "a")
        _ = lane.writes(2, "b")
        lane.begins(4)
        _ = lane.writes(3, "c")
        _ = lane.finish(4, "rests on c")
        #expect(lane.fails(1) == [.failed("a"), .failed("rests on c")])
        #expect(lane.epoch == 1)
        #expect(!lane.isOpen)
        #expect(!lane.isQuiet("stars"))
        #expect(lane.isQuiet("talk"))
        #expect(lane.fails(2) == [.failed("b")])
        #expect(lane.fails(3) == [.failed("c"), .undo(["a", "b", "c"])])
        #expect(!lane.isQuiet("stars"))
        #expect(lane.undone().map(Said.init) == [.opened])
        #expect(lane.isOpen)
        #expect(lane.isQuiet("stars"))
        lane.begins(5)
        guard case .append(epoch: 1, _) = lane.writes(5, "d") else { return #expect(Bool(false)) }
    }

    @Test func `an entry that is too large is its own fault alone: others may be tried again`() {
        var lane = LaneState<String>()
        for id in 1...2 as ClosedRange<UInt64> { lane.begins(id) }
        _ = lane.writes(1, "a")
        _ = lane.finish(2, "rests on a")
        let steps = lane.complete(1, .failure(.tooLarge(bytes: 2 << 20)))
        let causes = steps.compactMap { step in
            if case .failed(let name, let cause) = step { (name, cause) } else { nil }
        }
        #expect(causes.map(\.0) == ["a", "rests on a"])
        #expect(causes.map(\.1) == [.tooLarge(bytes: 2 << 20), .olderEpoch(epoch: 0)])
        #expect(lane.failure == .olderEpoch(epoch: 0))
    }

    @Test func `a decision that comes after the failure is refused and undone`() {
        var lane = LaneState<String>()
        lane.begins(1)
        lane.begins(2)
        lane.begins(3, on: "talk")
        _ = lane.writes(1, "a")
        #expect(lane.fails(1) == [.failed("a")])
        guard case .refused(let steps) = lane.writes(2, "late") else {
            return #expect(Bool(false))
        }
        #expect(steps.map(Said.init) == [.failed("late")])
        // A component may still be deciding: its state may yet need undoing.
        #expect(lane.undone().isEmpty)
        #expect(
            lane.finish(3, "refusal").map(Said.init) == [.failed("refusal"), .undo(["a", "late"])])
    }

    @Test func `a component that is lost while it decides holds nothing up`() {
        var lane = LaneState<String>()
        lane.begins(1)
        lane.begins(2)
        _ = lane.writes(1, "a")
        #expect(lane.fails(1) == [.failed("a")])
        #expect(lane.cancel(2).map(Said.init) == [.undo(["a"])])
        #expect(lane.cancel(2).isEmpty)
    }

    @Test func `an entry without records needs no undoing`() {
        var lane = LaneState<String>()
        lane.begin(1, on: "")
        _ = lane.write(1, keys: [], "published")
        #expect(lane.fails(1) == [.failed("published"), .opened])
    }

    @Test func `however many are on their way, each is looked at a few times when all fail`() {
        var lane = LaneState<String>()
        let count: UInt64 = 10_000
        for id in 1...count {
            lane.begins(id)
            if id % 2 == 1 { _ = lane.writes(id, "\(id)") } else { _ = lane.finish(id, "\(id)") }
        }
        var failed = 0
        var last: [Said] = []
        for id in stride(from: 1, to: count, by: 2) {
            last = lane.fails(id)
            failed += last.count
        }
        // Half of them with the first, and the undoing at the end.
        #expect(failed == Int(count) + 1)
        guard case .undo(let keys)? = last.last else { return #expect(Bool(false)) }
        #expect(keys.count == Int(count) / 2)
        #expect(lane.inspections <= 4 * Int(count), "\(lane.inspections)")
    }

    @Test func `those that end out of order cost no more, and what rests on the last one waits`() {
        var lane = LaneState<String>()
        let count: UInt64 = 10_000
        for id in 1...count { lane.begins(id) }
        _ = lane.finish(count, "rests on all")
        for id in (2..<count).reversed() { #expect(lane.cancel(id).isEmpty) }
        #expect(!lane.isQuiet("stars"))
        #expect(lane.cancel(1).map(Said.init) == [.unchanged("rests on all")])
        #expect(lane.isQuiet("stars"))
        #expect(lane.inspections <= 4 * Int(count), "\(lane.inspections)")
    }

    @Test func `thousands of answers that rest on one entry come with it`() {
        var lane = LaneState<String>()
        lane.begins(1)
        _ = lane.writes(1, "a")
        for id in 2...20_000 as ClosedRange<UInt64> {
            lane.begins(id)
            _ = lane.finish(id, "same")
        }
        #expect(lane.commits(1, at: 1).count == 20_000)
        #expect(lane.isEmpty)
    }

    @Test func `an entry is expected behind all that the lane has given to the store before`() {
        var lane = LaneState<String>()
        func position(_ id: LaneState<String>.ID, _ lane: inout LaneState<String>) -> Int64? {
            lane.begins(id)
            guard case .append(_, let position) = lane.writes(id, "\(id)") else { return -1 }
            return position
        }
        // Before anything is settled nobody knows.
        #expect(position(1, &lane) == nil)
        #expect(position(2, &lane) == nil)
        _ = lane.commits(1, at: 7)
        #expect(position(3, &lane) == 8)
        #expect(position(4, &lane) == 9)
        _ = lane.commits(2, at: 8)
        _ = lane.fails(3)
        _ = lane.fails(4)
        _ = lane.undone()
        #expect(position(5, &lane) == 8)
        // Somebody else has written.
        _ = lane.complete(5, .failure(.stale(position: 12)))
        _ = lane.undone()
        #expect(position(6, &lane) == 12)
        _ = lane.commits(6, at: 13)
        #expect(position(7, &lane) == 13)
    }
}
