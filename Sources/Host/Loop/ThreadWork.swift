import Dispatch
import LogMessages
import NIOCore

/// Long work on a thread beside the event loop: one piece at a time, in which users take turns.
///
/// Used on the loop only.
final class ThreadWork {
    private let loop: any EventLoop
    private let turns: TurnNotes
    private let queue = DispatchQueue(label: "atrium.work", qos: .userInitiated)
    /// Starts a piece; returns false where it is not wanted any more.
    private var waiting = UserTurns<() -> Bool>()
    private var isBusy = false

    init(loop: any EventLoop, turns: TurnNotes) {
        self.loop = loop
        self.turns = turns
    }

    /// Adds work, which waits for its user's turn; `make` is called on the loop then, and returns what runs on the
    /// thread, nil if it is not wanted any more; `then` gets the result on the loop.
    func add<T: Sendable>(
        of user: String, _ make: @escaping () -> (@Sendable () -> T)?,
        then: @escaping (T) -> Void
    ) {
        waiting.append({ [self] in start(make, then) }, of: user)
        startNext()
    }

    /// Forgets the work that waits; the returned closure, to be called on another thread, returns once the running
    /// piece is done.
    func end() -> @Sendable () -> Void {
        waiting = UserTurns()
        return { [queue] in queue.sync {} }
    }

    private func startNext() {
        while !isBusy, let start = waiting.popFirst() { isBusy = start() }
    }

    private func start<T: Sendable>(
        _ make: () -> (@Sendable () -> T)?, _ then: @escaping (T) -> Void
    ) -> Bool {
        guard let work = make() else { return false }
        // Emptied on the loop: what is captured here must not be freed on the thread.
        let end = NIOLoopBoundBox<((T) -> Void)?>(
            { [self] result in
                turns.work.insert(.later)
                isBusy = false
                then(result)
                startNext()
            }, eventLoop: loop)
        queue.async { [loop] in
            let result = work()
            loop.execute { end.value.take()?(result) }
        }
        return true
    }
}
