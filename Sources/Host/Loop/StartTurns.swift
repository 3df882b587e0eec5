import DequeModule

/// Limits how many components are being started in workers at a time.
///
/// A turn ends when its component is made, has failed, or makes no progress, so that one that hangs does not block
/// the others.
final class StartTurns {
    /// A permission to make a component.
    final class Turn {
        private var turns: StartTurns?

        fileprivate init(_ turns: StartTurns) { self.turns = turns }

        /// Ends the turn and starts the next one; a second call does nothing.
        func end() {
            let turns = turns
            self.turns = nil
            turns?.ended()
        }
    }

    private var free: Int
    private var waiting: Deque<(Turn) -> Void> = []

    init(atATime most: Int) { free = most }

    /// Calls back with a turn, during this call if one is free.
    func acquire(_ body: @escaping (Turn) -> Void) {
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
