import DequeModule

/// Lets only so many components be made at a time in processes of their own.
///
/// A turn is over when its component is made, can't be made, or shows no progress: one that hangs
/// keeps no other from being made.
final class StartTurns {
    /// A permission to make a component.
    final class Turn {
        private var turns: StartTurns?

        fileprivate init(_ turns: StartTurns) { self.turns = turns }

        /// Lets the next one be made; ending twice does nothing.
        func end() {
            let turns = turns
            self.turns = nil
            turns?.ended()
        }
    }

    private var free: Int
    private var waiting: Deque<(Turn) -> Void> = []

    init(atATime most: Int) { free = most }

    /// Calls back with a turn, at once where one is free.
    func take(_ body: @escaping (Turn) -> Void) {
        waiting.append(body)
        next()
    }

    private func ended() {
        free += 1
        next()
    }

    private func next() {
        while free > 0, let body = waiting.popFirst() {
            free -= 1
            body(Turn(self))
        }
    }
}
