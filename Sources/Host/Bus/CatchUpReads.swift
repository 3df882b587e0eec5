import DequeModule
internal import Dispatch
internal import Synchronization

/// Reads of the past for subscribers: beside all other reads, a few at a time, and of one user at most
/// one.
///
/// Each read is a short slice, and users take turns slice by slice: who subscribes a thousand times
/// from the beginning delays others by no more than a slice.
final class CatchUpReads: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var waiting: [String: Deque<Work>] = [:]
        /// The users whose turn comes: each has work that waits and none that runs.
        var turns: Deque<String> = []
        var running: Set<String> = []
        /// Queues on which nothing runs.
        var idle: [DispatchQueue]

        mutating func next() -> (user: String, work: Work, queue: DispatchQueue)? {
            guard let queue = idle.last, let user = turns.popFirst(),
                let work = waiting[user]?.popFirst()
            else { return nil }
            idle.removeLast()
            if waiting[user]?.isEmpty == true { waiting[user] = nil }
            running.insert(user)
            return (user, work, queue)
        }
    }

    private let state: Mutex<State>

    /// - Parameter most: how many are made at a time; the store has readers for others too.
    init(atATime most: Int = 2) {
        // One serial queue for each: libdispatch looks after a concurrent one every second.
        let queues = (1...most).map {
            DispatchQueue(label: "atrium.catch-up.\($0)", qos: .utility)
        }
        state = Mutex(State(idle: queues))
    }

    /// Makes a read of a user's when it is its turn.
    func add(of user: String, _ work: @escaping Work) {
        state.withLock { state in
            let isFirst = state.waiting[user] == nil && !state.running.contains(user)
            state.waiting[user, default: []].append(work)
            if isFirst { state.turns.append(user) }
        }
        startNext()
    }

    private func startNext() {
        guard let (user, work, queue) = state.withLock({ $0.next() }) else { return }
        queue.async { [self] in
            work()
            state.withLock { state in
                state.running.remove(user)
                state.idle.append(queue)
                if state.waiting[user] != nil { state.turns.append(user) }
            }
            startNext()
        }
    }
}
