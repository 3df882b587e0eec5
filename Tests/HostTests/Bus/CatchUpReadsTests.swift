import Dispatch
import Store
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Who reads the past when.
@Suite(.timeLimit(.minutes(2))) struct CatchUpReadsTests {
    @Test func `users take turns, read by read`() async throws {
        let reads = CatchUpReads(atATime: 1)
        let order = Mutex<[String]>([])
        let gate = DispatchSemaphore(value: 0)
        try await callback { done in
            reads.add(of: "ann") { gate.wait() }
            for (number, user) in ["ann", "ann", "ann", "bob", "cid", "bob"].enumerated() {
                reads.add(of: user) {
                    order.withLock { $0.append("\(user) \(number)") }
                    if order.withLock({ $0.count }) == 6 { done() }
                }
            }
            gate.signal()
        }
        #expect(
            order.withLock { $0 } == ["bob 3", "cid 4", "ann 0", "bob 5", "ann 1", "ann 2"])
    }

    @Test func `of one user at most one is made at a time, of all no more than there may be`()
        async throws
    {
        let reads = CatchUpReads(atATime: 2)
        let state = Mutex((running: [String: Int](), most: 0, left: 60))
        try await callback { done in
            for number in 0..<60 {
                let user = "user \(number % 5)"
                reads.add(of: user) {
                    state.withLock { state in
                        state.running[user, default: 0] += 1
                        #expect(state.running[user] == 1)
                        state.most = max(state.most, state.running.values.reduce(0, +))
                    }
                    let left = state.withLock { state in
                        state.running[user, default: 0] -= 1
                        state.left -= 1
                        return state.left
                    }
                    if left == 0 { done() }
                }
            }
        }
        #expect(state.withLock { $0.most } <= 2)
    }

    @Test func `what commands wait for is read while subscribers' reads are under way`()
        async throws
    {
        let directory = try TemporaryDirectory(inMemory: true)
        let store = try Store(at: directory.path, logger: .silent) { _ in }
        let reads = CatchUpReads()
        let gate = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        for number in 0..<10 {
            reads.add(of: "user \(number)") {
                begun.signal()
                gate.wait()
            }
        }
        try await onThread {
            for _ in 0..<2 { begun.wait() }
        }
        let keys = [RecordKey(container: "films", component: "list", key: "heat")]
        let found = try await answer { reply in
            store.enqueueRead { store in reply(Result { try store.records(keys).count }) }
        }
        #expect(found == 1)
        for _ in 0..<10 { gate.signal() }
        store.close()
    }
}
