import Synchronization

/// The last few steps to a state, each made once for all screens that take it.
///
/// Previous states are kept only by number, so that they can be released.
struct StepCache<Step: Sendable>: ~Copyable, Sendable {
    private static var capacity: Int { 4 }

    private let known = Mutex<[(from: UInt64, step: Step)]>([])

    /// Returns the step from the state with this number, 0 for nothing; calls `make` if it is not cached.
    func step(from number: UInt64, _ make: () -> Step) -> Step {
        known.withLock { known in
            if let step = known.first(where: { $0.from == number })?.step { return step }
            let step = make()
            if known.count == Self.capacity { known.removeFirst() }
            known.append((number, step))
            return step
        }
    }
}
