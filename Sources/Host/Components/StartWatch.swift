/// Detects that a component's start waits without progress.
///
/// It uses a single timer, however many questions and answers there are.
struct StartWatch {
    /// The outcome of a check.
    enum Outcome {
        /// The start still waits, and there was progress: start the timer again.
        case again
        /// The start does not wait for the component.
        case over
        /// There was no progress.
        case stalled
    }

    /// The count of questions and answers, to be passed to ``check(since:)`` when the timer fires.
    private(set) var seen: UInt64 = 0
    /// Whether the start waits for the component.
    private var isWaiting = false
    private var isTimed = false

    /// Records that the start waits for the component.
    ///
    /// - Returns: whether to start a timer.
    mutating func awaitAnswer() -> Bool {
        isWaiting = true
        seen += 1
        defer { isTimed = true }
        return !isTimed
    }

    /// Records that the component has answered, or that the answer is not needed any more.
    mutating func end() {
        isWaiting = false
        seen += 1
    }

    /// Decides what to do when the timer has fired.
    mutating func check(since seen: UInt64) -> Outcome {
        guard isWaiting, self.seen == seen else {
            isTimed = isWaiting
            return isWaiting ? .again : .over
        }
        isTimed = false
        return .stalled
    }
}
