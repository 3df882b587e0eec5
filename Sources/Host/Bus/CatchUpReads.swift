import DequeModule
internal import Dispatch
internal import Synchronization

/// Schedules the reads of the past: a few at a time in all, and one at a time for each user.
///
/// They run apart from the store's other reads. Each reads one short slice, and users take turns slice by slice:
/// a user with a thousand subscriptions from the beginning delays others by one slice at most.
final class CatchUpReads: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var waiting: [String: Deque<Work>] = [:]
        /// The users who have waiting reads and no running one, in the order of their turns.
        var turns: Deque<String> = []
        var running: Set<String> = []
        /// The queues that are free.
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

    /// Creates the queues for reads, of which so many run at a time; other reads need the store's readers too.
    init(atATime most: Int = 2) {
        // One serial queue for each read: libdispatch wakes up every second to check a concurrent queue's threads.
        let queues = (1...most).map {
            DispatchQueue(label: "atrium.catch-up.\($0)", qos: .utility)
        }
        state = Mutex(State(idle: queues))
    }

    /// Queues a read, which runs in its user's turn.
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
