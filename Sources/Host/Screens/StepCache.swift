import Synchronization

/// The last few steps that lead to a state, each made once for all screens that take it.
///
/// The states that they come from are kept by their numbers, and so not alive.
struct StepCache<Step: Sendable>: ~Copyable, Sendable {
    private static var capacity: Int { 4 }

    private let known = Mutex<[(from: UInt64, step: Step)]>([])

    /// The step from the state of this number, 0 from nothing; `make` makes one that is not known.
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
